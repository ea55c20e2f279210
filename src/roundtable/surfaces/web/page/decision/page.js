// The decision: what came out, and everything that it rests on.
import { useMemo } from "../vendor/hooks.js";
import { languageOf, Words } from "../parts.js";
import { html } from "../ui.js";
import { t } from "../words.js";
import { numbered, PaperNotes, Tip } from "./cite.js";
import { Experts, hasExperts } from "./experts.js";
import { First } from "./first.js";
import { Changes, Dissent, hasDissent, MoreDecisions, Record, Steps, Why } from "./sections.js";
import { hasStandings } from "./standings.js";
import { Works } from "./works.js";

const IN_BAND = 2;

/** The decision, if what the server derived is not older than the end. */
export function settledOf(derived, state) {
  const decision = derived && derived.decision;
  if (!decision) return null;
  // What was derived may be ahead of the events: of thousands the last one says that it is over.
  const over = state.closed || (state.seq > 0 && derived.seq > state.seq && derived.status !== "running");
  return over ? (["live", "paused", "interrupted"].includes(decision.kind) ? null : decision) : decision.kind === "interrupted" ? decision : null;
}

/** The first screen of a discussion that does not go on. */
export function Decision({ base, info, state, derived, chairs, onMade, onGone }) {
  const decision = settledOf(derived, state);
  const topic = state.topic || info.topic || "";
  if (!decision) {
    return html`<section class="wrap first coming" id="decision" aria-label=${t("The decision")} tabindex="-1">
      <div class="meta"><span class="chip plain">${t("Over")}</span></div>
      <h1 class="q" dir="auto" lang=${languageOf(topic)}>${topic}</h1><p class="opening soft" role="status">${t("Opening the decision")}</p><p class="on-paper">${t("This was printed before the answer had come. Print it again.")}</p></section>`;
  }
  // Where a recorded example comes from must be known before it is read.
  const example = decision.made.notes.find((note) => note.code === "example");
  return html`<${First} decision=${decision} state=${state} base=${base} chairs=${chairs} owns=${!base ? false : info.owns} example=${example} onMade=${onMade} onGone=${onGone} />`;
}

/** What follows it: text beside people. */
export function Sections({ decision, state }) {
  const { notes, list } = useMemo(() => numbered(decision), [decision]);
  return html`<div class="wrap cols">
    <div class="text">
      <${Works} works=${decision.works} state=${state} />
      <${Why} decision=${decision} state=${state} notes=${notes} />
      <${MoreDecisions} votes=${decision.votes.slice(IN_BAND)} />
      <${Dissent} decision=${decision} state=${state} notes=${notes} />
      <${Changes} changes=${decision.would_change} state=${state} notes=${notes} />
      <${Steps} steps=${decision.steps} />
      <${Record} record=${decision.record} />
    </div>
    <${Experts} decision=${decision} state=${state} notes=${notes} />
    ${decision.why.length > 0 && decision.answer.written_html && html`<section class="on-paper"><h2>${t("The whole answer as it was written")}</h2><${Words} checked markup=${decision.answer.written_html} kind="words" under=${2} /></section>`}
    <${PaperNotes} list=${list} />
    <${Tip} />
  </div>`;
}

/** The sections of the page, in the order in which they are read: id and title. */
export function sectionsOf(derived, state, leads) {
  const found = [];
  const decision = settledOf(derived, state);
  if (decision) {
    const { why } = decision;
    if (decision.works.length) found.push(["works", t("The text")]);
    if (why.length || decision.open_points.length || decision.answer.written_html) found.push(["why", why.length ? t("Why") : t("The answer")]);
    if (decision.votes.length > IN_BAND) found.push(["votes", t("More votes")]);
    if (hasDissent(decision)) found.push(["dissent", t("Who disagrees")]);
    if (decision.would_change.length) found.push(["change", t("What would change it")]);
    if (decision.steps.length) found.push(["next", t("Next steps")]);
    if (decision.record.length) found.push(["record", t("For the record")]);
    if (hasExperts(decision)) found.push(["experts", t("Experts")]);
  }
  found.push(["discussion", t("Discussion")]);
  if (hasStandings(derived)) found.push(["points", t("All points")]);
  if (state.closed && leads) found.push(["follow-up", t("Follow-up")]);
  return found;
}
