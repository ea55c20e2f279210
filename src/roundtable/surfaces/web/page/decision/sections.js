// What follows the first screen: why, who disagrees, what would change it, what is to be done, and
// the texts that the table hands over.
import { Icon } from "../icons.js";
import { directionOf, Face, languageOf, quoted, Words } from "../parts.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { later, n, t } from "../words.js";
import { Cite, Cites } from "./cite.js";
import { Vote } from "./votes.js";

/** Characters up to which a first sentence can stand as a heading. */
const HEADING = 150;
/** What the program calls a side; any other title is names. */
const SIDES = [later("The majority"), later("The written answer")];

function Part({ id, title, children }) {
  return html`<section id=${id} aria-labelledby=${`${id}-head`} tabindex="-1"><h2 id=${`${id}-head`}>${title}</h2>${children}</section>`;
}

/** The first sentence, and the rest. */
function parted(text) {
  const end = text.match(/[.!?。！？؟](?=\s|$)["”’)]*\s*/u);
  const at = end ? end.index + end[0].length : text.length;
  return [text.slice(0, at).trim(), text.slice(at).trim()];
}

export const Why = memo(function Why({ decision, state, notes }) {
  const { why, open_points: open, answer } = decision;
  if (!why.length && !open.length && !answer.written_html) return null;
  return html`<${Part} id="why" title=${why.length ? t("Why") : t("The answer")}>
    ${why.length > 0 && html`<ol class="why">${why.map((each) => html`<li key=${each.text}><${Reason} reason=${each} state=${state} notes=${notes} /></li>`)}</ol>`}
    ${answer.written_html && !why.length && html`<${Words} checked markup=${answer.written_html} kind="words written" under=${2} />`}
    ${answer.written_html && why.length > 0 && html`<${Fold} title=${t("The whole answer as it was written")}><${Words} checked markup=${answer.written_html} kind="words written" under=${2} /><//>`}
    ${decision.assumptions.length > 0 && html`<${Fold} title=${n(decision.assumptions.length, "{n} assumption of the host", "{n} assumptions of the host")}><ul class="listed">${decision.assumptions.map((text) => html`<li dir="auto">${text}${decision.rests_on.includes(text) && html` <span class="chip plain">${t("the answer rests on it")}</span>`}</li>`)}</ul><//>`}
    ${decision.rests_on.some((text) => !decision.assumptions.includes(text)) && html`<${Fold} title=${t("What the answer rests on")}><ul class="listed">${decision.rests_on.filter((text) => !decision.assumptions.includes(text)).map((text) => html`<li dir="auto">${text}</li>`)}</ul><//>`}
    ${open.length > 0 && html`<${Fold} title=${n(open.length, "{n} point stays open", "{n} points stay open")}><ul class="open">${open.map((each) => html`<li><span dir="auto">${each.text}</span>${each.status && html`<span class="chip plain"><bdi>${each.status}</bdi></span>`}</li>`)}</ul><//>`}
  <//>`;
});

function Fold({ title, children }) {
  return html`<details class="more"><summary><bdi>${title}</bdi></summary>${children}</details>`;
}

function Reason({ reason, state, notes }) {
  const [first, rest] = parted(reason.text);
  const behind = (reason.cites.length > 0 || reason.status) && html`<p class="by"><${Cites} cites=${reason.cites} state=${state} notes=${notes} />${reason.status && html` <span class="chip"><bdi>${reason.status}</bdi></span>`}</p>`;
  const language = languageOf(reason.text);
  if (first.length > HEADING) return html`<div><p class="told" dir="auto" lang=${language}>${reason.text}</p>${behind}</div>`;
  return html`<div><h3 dir="auto" lang=${language}>${first}</h3>${rest && html`<p dir="auto" lang=${language}>${rest}</p>`}${behind}</div>`;
}

/** The votes for which the band has no room. */
export const MoreDecisions = memo(function MoreDecisions({ votes }) {
  if (!votes.length) return null;
  return html`<${Part} id="votes" title=${t("Also voted on")}><div class="ballots">${votes.map((vote) => html`<${Vote} key=${vote.id} vote=${vote} />`)}</div><//>`;
});

/** Whether there is an answer that somebody could be against. */
export function hasDissent({ kind, dissent }) {
  const { lead, pairs, strongest_against: strongest } = dissent;
  return pairs.length > 0 || Boolean(strongest) || (Boolean(lead) && ["decided", "split"].includes(kind));
}

export const Dissent = memo(function Dissent({ decision, state, notes }) {
  const { lead, pairs, strongest_against: strongest } = decision.dissent;
  if (!hasDissent(decision)) return null;
  return html`<${Part} id="dissent" title=${t("Who disagrees, and why")}>
    ${lead && html`<p class="lede" dir=${directionOf(lead)} lang=${languageOf(lead)}>${lead}</p>`}
    ${pairs.map((pair) => html`<div class="duel"><${Side} side=${pair.against} state=${state} /><${Side} side=${pair.majority} state=${state} />
      ${pair.settle && html`<p class="settle" dir="auto"><b>${t("What would settle it:")}</b> ${pair.settle}</p>`}</div>`)}
    ${strongest && html`<div class="duel alone"><div><header><b>${t("The strongest argument against it")}</b></header>
      <blockquote dir=${directionOf(strongest.text)} lang=${languageOf(strongest.text)}>${strongest.text}</blockquote>${strongest.cite && html`<p class="by"><${Cite} cite=${strongest.cite} state=${state} notes=${notes} /></p>`}</div></div>`}
  <//>`;
});

function Side({ side, state }) {
  return html`<div><header><span class="faces">${side.participants.slice(0, 4).map((id) => html`<${Face} who=${person(state, id)} />`)}</span>
      <span><b><bdi>${SIDES.includes(side.title) ? t(side.title) : side.title}</bdi></b>${side.position && html`<small dir="auto">${side.position}</small>`}</span></header>
    ${side.quotes.map((cite) => html`<blockquote dir=${directionOf(cite.words)} lang=${languageOf(cite.words)}>${quoted(cite.words)}</blockquote><p class="by"><${Cite} cite=${cite} state=${state} /></p>`)}
  </div>`;
}

export const Changes = memo(function Changes({ changes, state, notes }) {
  if (!changes.length) return null;
  return html`<${Part} id="change" title=${t("What would change it")}><ul class="ifs">${changes.map((each) => html`<li class=${each.then ? "" : "alone"}>
    <span class="if" dir="auto">${each.if}</span>${each.then && html`<${Icon} name="arrow" /><span class="then" dir="auto">${each.then}</span>`}
    ${(each.how || each.cites.length > 0) && html`<span class="how" dir="auto">${each.how && t("Find out: {how}", { how: each.how })} <${Cites} cites=${each.cites} state=${state} notes=${notes} /></span>`}</li>`)}</ul><//>`;
});

export const Steps = memo(function Steps({ steps }) {
  if (!steps.length) return null;
  const dated = steps.some((step) => step.when);
  return html`<${Part} id="next" title=${t("Next steps")}><table class=${dated ? "steps" : "steps undated"}>
    <thead><tr>${dated && html`<th scope="col">${t("When")}</th>`}<th scope="col">${t("What")}</th><th scope="col">${t("Owner")}</th></tr></thead>
    <tbody>${steps.map((step) => html`<tr>${dated && html`<td class=${step.when.length < 16 ? "due one-line" : "due"}><bdi>${step.when}</bdi></td>`}
      <td class="what"><span dir="auto">${step.what}</span>${step.done && html`<p dir="auto">${t("Done when: {what}", { what: step.done })}</p>`}</td>
      <td class="owner">${step.named ? html`<bdi>${step.owner}</bdi>` : html`<span class="none">${t("No owner named")}</span>`}</td></tr>`)}</tbody></table><//>`;
});

/** What somebody wants to be kept, whatever is decided. */
export const Record = memo(function Record({ record }) {
  if (!record.length) return null;
  return html`<${Part} id="record" title=${t("For the record")}><ul class="kept">${record.map((each) => html`<li><b><bdi>${each.name}</bdi></b> <span dir="auto">${each.text}</span></li>`)}</ul><//>`;
});
