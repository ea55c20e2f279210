// The experts, each with what it held at first and what it holds in the end.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { usePrinting } from "../frames.js";
import { Face, languageOf, seatClass, TurnLink } from "../parts.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { later, n, t } from "../words.js";
import { Cite } from "./cite.js";
import { THE_SAME } from "./first.js";
import { Slope } from "./slope.js";

const CHIPS = { Kept: "chip plain", Moved: "chip", Disagrees: "chip warn", "Gave in": "chip warn", Absent: "chip plain", "Not asked": "chip plain", Abstained: "chip plain", "No preference": "chip plain", "No vote": "chip plain", "Not counted": "chip plain" };
/** From this many seats on, each is one line until it is opened. */
const MANY = 7;
/** Pixels that the bar and the rail take. */
const BELOW_RAIL = 100;
/** Conditions that stand there at once. */
const FEW = 2;
/** What the program says of a condition that nobody can grant. */
const TO_FIND_OUT = "to find out";
/** What it says of somebody who was not moved, and does not object. */
const COULD_LIVE = later("Could live with the answer.");

/** Whether they are worth a strip: of a discussion that broke off nobody's position may be known. */
export function hasExperts({ kind, experts }) {
  return experts.length > 0 && (!["failed", "stopped", "interrupted", "none"].includes(kind) || experts.some((each) => each.opening || each.final));
}

export const Experts = memo(function Experts({ decision, state, notes }) {
  const { experts, slope } = decision;
  const place = useSticking();
  if (!hasExperts(decision)) return null;
  const many = experts.length >= MANY;
  return html`<aside aria-labelledby="experts-head"><section id="experts" tabindex="-1" ref=${place}><h2 id="experts-head">${t("The experts")}</h2>
    <${Slope} slope=${slope} state=${state} />
    <ul class="exp">${(many ? byPosition(experts, slope) : experts).map((each) => html`<${Expert} key=${each.participant} expert=${each} state=${state} folded=${many} notes=${notes} />`)}</ul>
  </section></aside>`;
});

/** Those who end with the same position together, in the order of the options. */
function byPosition(experts, slope) {
  const options = slope ? slope.options.map((each) => each.id) : [];
  const ends = new Map((slope ? slope.lines : []).map((line) => [line.participant, options.indexOf(line.to)]));
  const place = ({ participant }) => {
    const at = ends.has(participant) ? ends.get(participant) : -1;
    return at < 0 ? options.length : at;
  };
  return [...experts].sort((one, two) => place(one) - place(two));
}

/** Stays beside the text: with its beginning where it fits the window, otherwise with its end. */
function useSticking() {
  const place = useRef(null);
  useEffect(() => {
    const strip = place.current;
    if (!strip) return undefined;
    const look = () => {
      strip.style.top = `${Math.min(BELOW_RAIL, innerHeight - strip.offsetHeight - 16)}px`;
    };
    const watch = new ResizeObserver(look);
    watch.observe(strip);
    addEventListener("resize", look);
    return () => {
      watch.disconnect();
      removeEventListener("resize", look);
    };
  }, []);
  return place;
}

function Expert({ expert, state, folded, notes }) {
  const who = person(state, expert.participant);
  const head = html`<${Face} who=${who} kind=${["Absent", "Not asked"].includes(expert.chip) ? "sm out" : "sm"} /><b><bdi>${expert.name}</bdi></b>
    ${expert.chip && html`<span class=${CHIPS[expert.chip] || "chip plain"}>${t(expert.chip)}</span>`}`;
  const path = html`<${Path} expert=${expert} state=${state} notes=${notes} />`;
  if (folded) return html`<li class=${seatClass(who)}><details><summary class="who">${head}</summary>${path}</details></li>`;
  return html`<li class=${seatClass(who)}><div class="who">${head}</div>${path}</li>`;
}

function Path({ expert, state, notes }) {
  const { opening, cause, conditions } = expert;
  const final = expert.final === THE_SAME ? t(THE_SAME) : expert.final;
  const same = opening && final && opening.trim() === final.trim();
  if (!opening && !final && !conditions.length) return null;
  return html`<div class="path">
    ${opening && !same && html`<i></i><span class="from" lang=${languageOf(opening)} title=${opening}><span class="sr">${t("At first:")} </span><bdi>${opening}</bdi></span>`}
    ${final && html`<i class="end"></i><span class="fin" lang=${languageOf(final)} title=${final}><span class="sr">${t("In the end:")} </span><bdi>${final}</bdi></span>`}
    ${cause && html`<p class="cause"><bdi>${cause.text === COULD_LIVE ? t(COULD_LIVE) : cause.text}</bdi> ${cause.cite && html`<${Cite} cite=${cause.cite} state=${state} notes=${notes} />`}</p>`}
    ${conditions.length > 0 && html`<${Conditions} conditions=${conditions} />`}
    <p class="beneath">${expert.confidence !== null && html`<bdi class="num">${t("{n} % sure", { n: expert.confidence })}</bdi>`}
      ${expert.turn_id && html`<${TurnLink} turn=${expert.turn_id}>${t("Last speech")}<//>`}</p>
  </div>`;
}

/** Without what it would not hold its position: what it demands of the others, and what nobody knows. */
function Conditions({ conditions }) {
  const [opened, setAll] = useState(false);
  const all = usePrinting() || opened;
  const shown = all ? conditions : conditions.slice(0, FEW);
  const left = conditions.length - shown.length;
  return html`<ul class="conditions">${shown.map((each) => {
    const fact = each.status === TO_FIND_OUT;
    return html`<li><b>${fact ? t("To find out:") : t("Demands:")}</b> <bdi>${each.text}</bdi>${!fact && each.status && html` <bdi class="status-of">${each.status}</bdi>`}</li>`;
  })}${left > 0 && html`<li><button type="button" class="link" onClick=${() => setAll(true)}>${n(left, "{n} more condition", "{n} more conditions")}</button></li>`}</ul>`;
}
