// What a person at a seat holds, in the fields that its turn asks for: a vote, a position, answers to
// points. Made from the form that the server sends; what is left empty is not declared.
import { html } from "../ui.js";
import { t } from "../words.js";

const STANCES = ["agree", "partly", "disagree", "unsure"];
/** For whoever raised the point. */
const OWN_STANCES = ["amend", "withdraw"];
const OTHERS = [["", () => t("no opinion of it")], ["acceptable", () => t("could live with it")], ["rejects", () => t("would oppose it")]];
const CALLED = { agree: () => t("agree"), partly: () => t("partly"), disagree: () => t("disagree"), unsure: () => t("unsure"), amend: () => t("reword it"), withdraw: () => t("withdraw it") };
const RECORDED = /on (\w+) (you hold|the clerk put your statement under) (\w+)/g;
const MOST = 3;

/** Nothing filled in yet. */
export const UNDECLARED = Object.freeze({
  votes: {}, position: "", condition: "", kind: "demand", confidence: "", stances: {}, argument: "", whose: "",
  claims: "", scores: {}, values: {}, end: false, action: "", record: "", abstains: false, why: "",
});

/** What is on record of this seat, by decision: what it holds, and whether only the clerk says so. */
function recorded(form) {
  const found = {};
  for (const [, decision, how, held] of form.recorded.matchAll(RECORDED)) found[decision] = { held, clerk: how !== "you hold" };
  return found;
}

function before(form, decision, vote) {
  const known = recorded(form)[decision.id];
  const held = vote.before || (known && known.held) || "silent";
  return held === "any" ? "silent" : held;
}

/** Whether the seat leaves what it held. */
function moved(form, held) {
  return form.decisions.some((decision) => {
    const vote = held.votes[decision.id];
    const stood = vote && vote.choice ? before(form, decision, vote) : "silent";
    return stood !== "silent" && stood !== vote.choice;
  });
}

const lines = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, MOST);

/** The fields as the server takes them; null where the seat says nothing that could be counted. */
export function fieldsOf(form, held) {
  const asks = (key) => form.keys.includes(key);
  if (held.abstains) return { abstain: held.why.trim() || "no reason given" };
  const votes = form.decisions.filter((each) => held.votes[each.id] && held.votes[each.id].choice);
  const scored = form.scored.some((name) => held.scores[name]);
  const valued = Object.values(held.values).some((value) => value.trim());
  if (!votes.length && !held.position.trim() && !scored && !valued && !Object.values(held.stances).some((each) => each.stance)) return null;
  const fields = {};
  if (asks("votes")) {
    fields.votes = votes.map((decision) => {
      const vote = held.votes[decision.id];
      const marked = (mark) => decision.options.map((each) => each.id).filter((id) => id !== vote.choice && (vote.others || {})[id] === mark);
      return { on: decision.id, before: before(form, decision, vote), choice: vote.choice, acceptable: marked("acceptable"), rejects: marked("rejects") };
    });
  }
  if (asks("position")) fields.position = held.position.trim();
  if (asks("conditions")) fields.conditions = lines(held.condition).map((text) => ({ text, kind: held.kind, otherwise: "open" }));
  if (asks("confidence") && held.confidence !== "") fields.confidence = Number(held.confidence);
  if (asks("stances")) {
    fields.stances = Object.entries(held.stances).filter(([, each]) => each.stance)
      .map(([id, each]) => ({ id, stance: each.stance, text: (each.text || "").trim() }));
  }
  if (asks("adopted")) {
    const named = moved(form, held) && held.argument.trim() && held.whose;
    fields.adopted = named ? [{ from: held.whose, what: held.argument.trim(), moved: true }] : [];
  }
  if (asks("new_points")) fields.new_points = lines(held.claims);
  if (asks("scores")) fields.scores = Object.fromEntries(Object.entries(held.scores).filter(([, score]) => score).map(([name, score]) => [name, Number(score)]));
  if (asks("values")) fields.values = Object.fromEntries(Object.entries(held.values).map(([name, value]) => [name, form.values[name].kind === "list" ? value.split(";").map((each) => each.trim()).filter(Boolean) : value.trim()]));
  if (asks("end")) fields.end = held.end;
  if (asks("actions")) fields.actions = lines(held.action).map((what) => ({ what, owner: "", due: "" }));
  if (asks("for_the_record")) fields.for_the_record = held.record.trim();
  return fields;
}

/** The fields of a turn's form, as far as they are filled in. */
export function Declare({ form, held, onChange }) {
  const asks = (key) => form.keys.includes(key);
  const set = (change) => onChange({ ...held, ...change });
  const points = form.points.filter((point) => point.asked && !point.own);
  const others = form.points.filter((point) => !points.includes(point));
  const stance = (point) => html`<${Stance} key=${point.id} point=${point} said=${held.stances[point.id] || {}} onChange=${(said) => set({ stances: { ...held.stances, [point.id]: said } })} />`;
  return html`<fieldset class="declare"><legend>${t("What you hold")}</legend>
    <p class="faint small">${t("Your vote is what stands here: nobody reads it out of your words. Leave empty what you do not want to say.")}</p>
    ${!held.abstains && html`
      ${asks("votes") && form.decisions.map((decision) => html`<${Vote} key=${decision.id} form=${form} decision=${decision} vote=${held.votes[decision.id] || {}} onChange=${(vote) => set({ votes: { ...held.votes, [decision.id]: vote } })} />`)}
      ${asks("position") && html`<label>${t("What you would do, in one sentence")}<input type="text" dir="auto" maxlength="300" value=${held.position} onInput=${(event) => set({ position: event.target.value })} /></label>`}
      ${asks("adopted") && form.peers.length > 0 && moved(form, held) && html`<div class="pair">
        <label>${t("You change your choice. Which argument moved you?")}<input type="text" dir="auto" maxlength="160" value=${held.argument} onInput=${(event) => set({ argument: event.target.value })} /></label>
        <label>${t("Whose was it?")}<select value=${held.whose} onChange=${(event) => set({ whose: event.target.value })}><option value="">${t("nobody’s")}</option>${form.peers.map((peer) => html`<option value=${peer.letter} selected=${peer.letter === held.whose}>${peer.name}</option>`)}</select></label></div>`}
      ${points.map(stance)}
      ${asks("scores") && form.scored.map((name) => html`<label key=${name}>${t("How far you agree with {name}", { name })}<select value=${held.scores[name] || ""} onChange=${(event) => set({ scores: { ...held.scores, [name]: event.target.value } })}><option value="">${t("please choose")}</option>${[["1", t("1, not at all")], ["2", "2"], ["3", "3"], ["4", "4"], ["5", t("5, fully")]].map(([score, told]) => html`<option value=${score} selected=${score === held.scores[name]}>${told}</option>`)}</select></label>`)}
      ${asks("values") && Object.entries(form.values).map(([name, value]) => html`<label key=${name}><bdi>${name}</bdi> <span class="faint small">${value.kind === "list" ? t("{what}, with ; between them", { what: value.wanted }) : value.wanted}</span><input type="text" dir="auto" value=${held.values[name] || ""} onInput=${(event) => set({ values: { ...held.values, [name]: event.target.value } })} /></label>`)}
      <details class="fold"><summary>${t("More to declare")}</summary>
        ${asks("conditions") && html`<label>${t("Conditions without which this falls, one a line")}<textarea rows="2" dir="auto" value=${held.condition} onInput=${(event) => set({ condition: event.target.value })}></textarea></label>
          <label>${t("They are")}<select value=${held.kind} onChange=${(event) => set({ kind: event.target.value })}><option value="demand" selected=${held.kind === "demand"}>${t("demands that can be granted")}</option><option value="fact" selected=${held.kind === "fact"}>${t("facts to be found out")}</option></select></label>`}
        ${asks("confidence") && html`<label>${t("How sure you are, from 0 to 100")}<input type="number" min="0" max="100" value=${held.confidence} onInput=${(event) => set({ confidence: event.target.value })} /></label>`}
        ${asks("new_points") && html`<label>${t("Claims that the others should answer, one a line")}<textarea rows="2" dir="auto" value=${held.claims} onInput=${(event) => set({ claims: event.target.value })}></textarea></label>`}
        ${others.map(stance)}
        ${asks("actions") && html`<label>${t("What should be done next, one a line")}<textarea rows="2" dir="auto" value=${held.action} onInput=${(event) => set({ action: event.target.value })}></textarea></label>`}
        ${asks("for_the_record") && html`<label>${t("For the minutes, whatever is decided")}<input type="text" dir="auto" value=${held.record} onInput=${(event) => set({ record: event.target.value })} /></label>`}
        ${asks("end") && html`<label class="choice"><input type="checkbox" checked=${held.end} onChange=${(event) => set({ end: event.target.checked })} /> ${t("End the discussion now")}</label>`}
      </details>`}
    ${asks("abstain") && html`<label class="choice"><input type="checkbox" checked=${held.abstains} onChange=${(event) => set({ abstains: event.target.checked })} /> ${t("I take no position at all")}</label>`}
    ${held.abstains && html`<label>${t("Why?")}<input type="text" dir="auto" value=${held.why} onInput=${(event) => set({ why: event.target.value })} /></label>`}
  </fieldset>`;
}

function Vote({ form, decision, vote, onChange }) {
  const known = recorded(form)[decision.id];
  const text = (id) => (decision.options.find((each) => each.id === id) || { text: id === "own" ? t("something else") : id }).text;
  const pick = (choice) => onChange({ ...vote, choice });
  const mark = (id, as) => onChange({ ...vote, others: { ...vote.others, [id]: as } });
  return html`<fieldset class="ballot"><legend dir="auto">${decision.question}</legend>
    ${decision.options.map((option) => html`<div class="pick" key=${option.id}>
      <label class="choice"><input type="radio" name=${`vote-${decision.id}`} checked=${vote.choice === option.id} onChange=${() => pick(option.id)} /> <span dir="auto">${option.text}</span></label>
      ${vote.choice && vote.choice !== option.id && html`<select aria-label=${t("What you think of: {option}", { option: option.text })} value=${(vote.others || {})[option.id] || ""} onChange=${(event) => mark(option.id, event.target.value)}>${OTHERS.map(([value, told]) => html`<option value=${value} selected=${value === ((vote.others || {})[option.id] || "")}>${told()}</option>`)}</select>`}</div>`)}
    <label class="choice"><input type="radio" name=${`vote-${decision.id}`} checked=${vote.choice === "own"} onChange=${() => pick("own")} /> ${t("Something else: I say it below")}</label>
    <label class="choice"><input type="radio" name=${`vote-${decision.id}`} checked=${vote.choice === "any"} onChange=${() => pick("any")} /> ${t("No preference")}</label>
    ${known && !known.clerk && html`<p class="faint small">${t("So far you hold: {what}", { what: text(known.held) })}</p>`}
    ${known && known.clerk && html`<label>${t("Your earlier words were put here. Where do they belong?")}<select value=${vote.before || known.held} onChange=${(event) => onChange({ ...vote, before: event.target.value })}>
      ${[...decision.options.map((each) => [each.id, each.text]), ["own", t("somewhere else")], ["silent", t("they did not speak to this")]].map(([value, told]) => html`<option value=${value} selected=${value === (vote.before || known.held)}>${told}</option>`)}</select></label>`}
  </fieldset>`;
}

function Stance({ point, said, onChange }) {
  return html`<fieldset class="stance"><legend dir="auto">${point.text}</legend>
    ${(point.own ? OWN_STANCES : STANCES).map((word) => html`<label class="choice" key=${word}><input type="radio" name=${`stance-${point.id}`} checked=${said.stance === word} onChange=${() => onChange({ ...said, stance: word })} /> ${CALLED[word]()}</label>`)}
    ${said.stance && html`<label>${said.stance === "amend" ? t("Its new wording") : t("Why (optional)")}<input type="text" dir="auto" maxlength="160" value=${said.text || ""} onInput=${(event) => onChange({ ...said, text: event.target.value })} /></label>`}
  </fieldset>`;
}
