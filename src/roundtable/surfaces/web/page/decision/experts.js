// The experts, each with what it held at first and what it holds in the end.
import { languageOf, seatClass, TurnLink } from "../parts.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { t } from "../words.js";
import { Cite } from "./cite.js";
import { Face } from "./sections.js";
import { Slope } from "./slope.js";

const CHIPS = { Kept: "chip plain", Moved: "chip", Disagrees: "chip warn", "Gave in": "chip warn", Absent: "chip plain", Abstained: "chip plain", "No vote": "chip plain", "Not counted": "chip plain" };
/** From this many seats on, each is one line until it is opened. */
const MANY = 7;

export const Experts = memo(function Experts({ decision, state, notes }) {
  const { experts, slope } = decision;
  if (!experts.length) return null;
  const many = experts.length >= MANY;
  return html`<aside aria-labelledby="experts-head"><section id="experts" tabindex="-1"><h2 id="experts-head">${t("The experts")}</h2>
    <${Slope} slope=${slope} state=${state} sample=${decision.question.whole} />
    <ul class="exp">${experts.map((each) => html`<${Expert} key=${each.participant} expert=${each} state=${state} folded=${many} notes=${notes} />`)}</ul>
  </section></aside>`;
});

function Expert({ expert, state, folded, notes }) {
  const who = person(state, expert.participant);
  const head = html`<${Face} who=${who} kind=${expert.chip === "Absent" ? "sm out" : "sm"} /><b><bdi>${expert.name}</bdi></b>
    ${expert.chip && html`<span class=${CHIPS[expert.chip] || "chip plain"}>${t(expert.chip)}</span>`}`;
  const path = html`<${Path} expert=${expert} state=${state} notes=${notes} />`;
  if (folded) return html`<li class=${seatClass(who)}><details><summary class="who">${head}</summary>${path}</details></li>`;
  return html`<li class=${seatClass(who)}><div class="who">${head}</div>${path}</li>`;
}

function Path({ expert, state, notes }) {
  const { opening, final, cause, conditions } = expert;
  const same = opening && final && opening.trim() === final.trim();
  if (!opening && !final && !conditions.length) return null;
  return html`<div class="path">
    ${opening && !same && html`<i></i><span class="from" dir="auto" lang=${languageOf(opening)} title=${opening}><span class="sr">${t("At first:")} </span>${opening}</span>`}
    ${final && html`<i class="end"></i><span class="fin" dir="auto" lang=${languageOf(final)} title=${final}><span class="sr">${t("In the end:")} </span>${final}</span>`}
    ${cause && html`<p class="cause"><span dir="auto">${cause.text}</span> ${cause.cite && html`<${Cite} cite=${cause.cite} state=${state} notes=${notes} />`}</p>`}
    ${conditions.length > 0 && html`<ul class="conditions">${conditions.map((each) => html`<li dir="auto"><span class="chip plain">${t("Demands")}</span> ${each.text}${each.status && html` <span class="soft">${each.status}</span>`}</li>`)}</ul>`}
    <p class="beneath">${expert.confidence !== null && html`<span class="soft num">${t("{n} % sure", { n: expert.confidence })}</span>`}
      ${expert.turn_id && html`<${TurnLink} turn=${expert.turn_id}>${t("Last speech")}<//>`}</p>
  </div>`;
}
