// Positions over the rounds: a row for everybody, a stretch for as long as somebody held the same.
// Only rounds in which somebody moved have a column, so that forty rounds can be read.
import { Face, seatClass } from "../parts.js";
import { turnPlace } from "../format.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { t } from "../words.js";

const LONGEST = 70;

function clipped(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\s+\S*$/, "")}…` : text;
}

/** What an option is called where there is little room. */
function labels(course, decision) {
  const short = decision && decision.votes && decision.votes.length ? Object.fromEntries(decision.votes[0].options.map((each) => [each.id, each.label])) : {};
  const found = { own: t("A position of its own"), any: t("No preference") };
  for (const option of course.options) found[option.id] = short[option.id] || clipped(option.text);
  return found;
}

/** The rounds in which somebody came to hold something, each with the last one like it. */
function columns(course) {
  const changed = [...new Set(course.rows.flatMap((row) => row.steps.map((step) => step.round)))].sort((a, b) => a - b);
  const last = course.rounds[course.rounds.length - 1];
  return changed.map((round, at) => ({ round, until: at + 1 < changed.length ? Math.max(round, changed[at + 1] - 1) : Math.max(round, last) }));
}

/** Before the first vote stands what was held before anybody had heard the others. */
function headed(round, until) {
  if (!round) return t("At first");
  return round === until ? t("Round {n}", { n: round }) : t("Rounds {n} to {m}", { n: round, m: until });
}

function stretches(row, cols) {
  const found = [];
  for (const { round } of cols) {
    const step = row.steps.filter((each) => each.round <= round).pop() || null;
    const before = found[found.length - 1];
    if (before && before.step === step) before.span += 1;
    else found.push({ step, span: 1, moved: Boolean(before && before.step) });
  }
  return found;
}

export const Course = memo(function Course({ course, decision, sat, host }) {
  if (!course || !course.rows.some((row) => row.steps.length)) return null;
  const state = { sat, host };
  const called = labels(course, decision);
  const whole = { ...called, ...Object.fromEntries(course.options.map((each) => [each.id, each.text])) };
  const delivered = new Set(course.options.filter((each) => each.delivered).map((each) => each.id));
  const cols = columns(course);
  const rows = course.rows.filter((row) => row.steps.length);
  const moved = rows.some((row) => row.steps.length > 1);
  const told = rows.map((row) => {
    const { name } = person(state, row.participant);
    return row.steps.length === 1
      ? t("{name} held the same throughout: {option}.", { name, option: whole[row.steps[0].option] || "" })
      : t("{name}: {course}.", { name, course: row.steps.map((step) => (step.round ? t("from round {n} {option}", { n: step.round, option: whole[step.option] || "" }) : t("at first {option}", { option: whole[step.option] || "" }))).join("; ") });
  });
  return html`<details class="course" open=${moved}><summary><h3>${moved ? t("Who moved, and when") : t("Nobody moved on the question")}</h3></summary>
    <p class="sr" id="course-told">${told.join(" ")}</p>
    <div class="scroll" tabindex="0" role="group" aria-label=${t("Positions over the rounds")}>
    <table aria-describedby="course-told"><thead><tr><th scope="col"><span class="sr">${t("Expert")}</span></th>${cols.map(({ round, until }) => html`<th scope="col">${headed(round, until)}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => {
        const who = person(state, row.participant);
        return html`<tr key=${row.participant} class=${seatClass(who)}><th scope="row"><span class="who"><${Face} who=${who} kind="sm" /><bdi>${who.name}</bdi></span></th>
          ${stretches(row, cols).map(({ step, span, moved: now }) => html`<td colspan=${span} class=${step ? `${delivered.has(step.option) ? "to-answer" : "to-other"}${now ? " now" : ""}` : "unsaid"}>${step
            ? html`<a class="stretch" href=${`#${encodeURI(turnPlace(step.turn_id))}`} title=${whole[step.option]} dir="auto">${now && html`<span class="to" aria-hidden="true">→ </span>`}${called[step.option] || ""}${now && html`<span class="sr">${t("(changed)")}</span>`}
              ${step.by && html`<small>${t("moved by {name}", { name: person(state, step.by).name })}</small>`}</a>`
            : html`<span class="soft">${t("not said yet")}</span>`}</td>`)}</tr>`;
      })}</tbody></table></div>
  </details>`;
});
