// What somebody at a seat holds, in the fields of the form that a model fills in: only this counts.
import { html } from "./ui.js";

const STANCES = ["agree", "partly", "disagree", "unsure"];
const OWN_STANCES = ["amend", "withdraw"];

/** The declaration that these entries make; null while nothing is filled in. */
export function declaration(form, entered) {
  const found = {};
  const votes = form.decisions
    .map((each) => ({ on: each.id, ...(entered.votes || {})[each.id] }))
    .filter((vote) => vote.choice)
    .map((vote) => ({ ...vote, before: vote.before || "silent", ...judged(form, vote.on, entered) }));
  if (votes.length) found.votes = votes;
  for (const key of ["position", "abstain", "for_the_record"]) if ((entered[key] || "").trim()) found[key] = entered[key].trim();
  if (entered.confidence) found.confidence = Number(entered.confidence);
  if (entered.end) found.end = true;
  const stances = Object.entries(entered.stances || {}).filter(([, each]) => each.stance);
  if (stances.length) found.stances = stances.map(([id, each]) => ({ id, stance: each.stance, text: each.text || "" }));
  const points = lines(entered.new_points);
  if (points.length) found.new_points = points;
  const conditions = lines(entered.conditions);
  if (conditions.length) found.conditions = conditions.map((text) => ({ text, kind: entered.kind || "demand", otherwise: "open" }));
  const actions = lines(entered.actions);
  if (actions.length) found.actions = actions.map(action);
  if ((entered.what || "").trim()) found.adopted = [{ from: entered.from || form.peers[0], what: entered.what.trim(), moved: !!entered.moved }];
  const scores = Object.entries(entered.scores || {}).filter(([, score]) => score);
  if (scores.length) found.scores = Object.fromEntries(scores.map(([name, score]) => [name, Number(score)]));
  return Object.keys(found).length ? found : null;
}

/** The fields of a form. What was entered is one object; `set` gets the next one. */
export function Declaring({ form, entered, set }) {
  const asks = (key) => form.keys.includes(key);
  const put = (key) => (event) => set({ ...entered, [key]: event.target.type === "checkbox" ? event.target.checked : event.target.value });
  const within = (key, id, part) => (event) =>
    set({ ...entered, [key]: { ...entered[key], [id]: { ...(entered[key] || {})[id], [part]: event.target.value } } });
  return html`<details class="declaring" open>
    <summary>What you hold: only this is counted</summary>
    ${form.recorded && html`<p class="small faint">${form.recorded}</p>`}
    ${form.decisions.map((each) => html`<fieldset><legend dir="auto">${each.question}</legend>
      <label>Your choice<${Pick} value=${((entered.votes || {})[each.id] || {}).choice} onChange=${within("votes", each.id, "choice")} empty="no vote"
        options=${[...each.options.map((o) => [o.id, `${o.id}: ${o.text}`]), ["own", "none of these: my position below"], ["any", "no preference"]]} /></label>
      <label>What you said before<${Pick} value=${((entered.votes || {})[each.id] || {}).before} onChange=${within("votes", each.id, "before")} empty="nothing on this"
        options=${[...each.options.map((o) => [o.id, `${o.id}: ${o.text}`]), ["own", "none of these"]]} /></label>
      ${each.options.map((o) => html`<label><bdi>${o.id}: ${o.text}</bdi><${Pick} value=${(entered.judged || {})[o.id]} empty="…"
        onChange=${(event) => set({ ...entered, judged: { ...entered.judged, [o.id]: event.target.value } })}
        options=${[["acceptable", "could live with it"], ["rejects", "would oppose it"]]} /></label>`)}
    </fieldset>`)}
    ${asks("position") && html`<label>Your position, in one sentence<input type="text" dir="auto" maxlength="300" value=${entered.position || ""} onInput=${put("position")} /></label>`}
    ${asks("confidence") && html`<label>How sure, 0 to 100<input type="number" min="0" max="100" value=${entered.confidence || ""} onInput=${put("confidence")} /></label>`}
    ${asks("stances") && html`<fieldset><legend>Points and conditions</legend>${form.points.map((each) => {
      const said = (entered.stances || {})[each.id] || {};
      return html`<label><bdi>${each.asked ? "? " : ""}${each.id}: ${each.text}</bdi>
        <${Pick} value=${said.stance} onChange=${within("stances", each.id, "stance")} empty="…" options=${(each.own ? OWN_STANCES : STANCES).map((word) => [word, word])} /></label>
        ${said.stance && html`<label><span class="sr">Why, ${each.id}</span><input type="text" dir="auto" placeholder=${said.stance === "amend" ? "its new wording" : "why"} value=${said.text || ""} onInput=${within("stances", each.id, "text")} /></label>`}`;
    })}</fieldset>`}
    ${asks("adopted") && html`<fieldset><legend>What you took over</legend>
      <label>From<${Pick} value=${entered.from} onChange=${put("from")} options=${form.peers.map((name) => [name, name])} /></label>
      <label>The argument<input type="text" dir="auto" maxlength="160" value=${entered.what || ""} onInput=${put("what")} /></label>
      <label class="choice"><input type="checkbox" checked=${!!entered.moved} onChange=${put("moved")} /> it changed my choice</label></fieldset>`}
    ${asks("new_points") && html`<label>New points, one a line<textarea rows="2" dir="auto" value=${entered.new_points || ""} onInput=${put("new_points")}></textarea></label>`}
    ${asks("conditions") && html`<label>Conditions, one a line<textarea rows="2" dir="auto" value=${entered.conditions || ""} onInput=${put("conditions")}></textarea></label>
      ${(entered.conditions || "").trim() && html`<label>They are<${Pick} value=${entered.kind || "demand"} onChange=${put("kind")} options=${[["demand", "demands that can be granted"], ["fact", "facts to be found out"]]} /></label>`}`}
    ${asks("scores") && html`<fieldset><legend>How far you agree with each, 1 to 5</legend>${form.scored.map((name) => html`<label><bdi>${name}</bdi><input type="number" min="1" max="5"
      value=${(entered.scores || {})[name] || ""} onInput=${(event) => set({ ...entered, scores: { ...entered.scores, [name]: event.target.value } })} /></label>`)}</fieldset>`}
    ${asks("actions") && html`<label>Actions, one a line: what - who<textarea rows="2" dir="auto" value=${entered.actions || ""} onInput=${put("actions")}></textarea></label>`}
    ${asks("for_the_record") && html`<label>For the record, whatever is decided<input type="text" dir="auto" maxlength="300" value=${entered.for_the_record || ""} onInput=${put("for_the_record")} /></label>`}
    ${asks("abstain") && html`<label>Or why you take no position at all<input type="text" dir="auto" maxlength="300" value=${entered.abstain || ""} onInput=${put("abstain")} /></label>`}
    ${asks("end") && html`<label class="choice"><input type="checkbox" checked=${!!entered.end} onChange=${put("end")} /> End the discussion now, if all others want it too</label>`}
  </details>`;
}

function Pick({ value, onChange, options, empty }) {
  return html`<select value=${value || ""} onChange=${onChange}>${empty && html`<option value="">${empty}</option>`}
    ${options.map(([id, told]) => html`<option value=${id} selected=${id === value}>${told}</option>`)}</select>`;
}

function judged(form, decision, entered) {
  const ids = form.decisions.find((each) => each.id === decision).options.map((each) => each.id);
  const chosen = (word) => ids.filter((id) => (entered.judged || {})[id] === word);
  return { acceptable: chosen("acceptable"), rejects: chosen("rejects") };
}

function lines(text) {
  return (text || "").split("\n").map((line) => line.trim()).filter(Boolean);
}

function action(line) {
  const [what, ...owner] = line.split(" - ");
  return { what: what.trim(), owner: owner.join(" - ").trim(), due: "" };
}
