// The table as a small navigator: who writes, who has spoken, and from the second round on who differs
// from whom. A seat leads to its column.
import { initials } from "../format.js";
import { seatClass } from "../parts.js";
import { person } from "../reducer.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { DOING } from "./words.js";

const WIDTH = 220;
const HEIGHT = 108;

/** Places around the table, each as far from the next. */
function places(number) {
  const finely = 720;
  const at = (step) => {
    const angle = -Math.PI / 2 + (2 * Math.PI * (step / finely + (number % 2 ? 0 : 0.5 / number)));
    return [WIDTH / 2 + 88 * Math.cos(angle), HEIGHT / 2 + 36 * Math.sin(angle)];
  };
  const walked = [0];
  for (let step = 1; step <= finely; step += 1) walked.push(walked[step - 1] + Math.hypot(at(step)[0] - at(step - 1)[0], at(step)[1] - at(step - 1)[1]));
  return Array.from({ length: number }, (_, seat) => at(walked.findIndex((way) => way >= (walked[finely] * seat) / number)));
}

/** The pairs that differ: by what each holds on the question so far, otherwise by a point. */
export function differing(derived, seats) {
  if (!derived) return [];
  const held = derived.held;
  const voted = seats.filter((id) => held[id]);
  const pairs = [];
  for (const [at, one] of seats.entries()) {
    for (const two of seats.slice(at + 1)) {
      const votes = held[one] && held[two];
      const apart = voted.length > 1 ? votes && held[one] !== held[two] : derived.points.some(({ stances }) => {
        const both = [stances[one], stances[two]].map((each) => each && each.position);
        return both.includes("agree") && both.includes("disagree");
      });
      if (apart) pairs.push([one, two]);
    }
  }
  return pairs;
}

export function Navigator({ state, derived, doing, round }) {
  const seats = state.seats;
  if (seats.length < 2) return null;
  const around = places(seats.length);
  const at = Object.fromEntries(seats.map((id, place) => [id, around[place]]));
  const pairs = round > 1 ? differing(derived, seats) : [];
  const name = (id) => person(state, id).name;
  const small = seats.length > 8;
  const told = pairs.length === 0 ? t("Nobody differs so far") : n(pairs.length, "{n} pair differs: {who}", "{n} pairs differ: {who}", { who: pairs.slice(0, 6).map(([one, two]) => `${name(one)} – ${name(two)}`).join("; ") });
  return html`<nav class="navigator" aria-label=${t("The table")}>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} class=${small ? "small" : ""}>
      <ellipse class="top" cx=${WIDTH / 2} cy=${HEIGHT / 2} rx="58" ry="23" />
      ${pairs.map(([one, two]) => html`<line class="apart" x1=${at[one][0]} y1=${at[one][1]} x2=${at[two][0]} y2=${at[two][1]} />`)}
      ${seats.map((id) => html`<${Seat} key=${id} who=${person(state, id)} what=${doing[id] || "waiting"} at=${at[id]} r=${small ? 11 : 15} />`)}
    </svg>
    <p>${round > 1 ? html`<span aria-hidden="true">${pairs.length ? t("Lines join those who differ") : t("Nobody differs so far")}</span><span class="sr">${told}</span>` : t("Lines show who differs, from round 2")}</p>
  </nav>`;
}

function Seat({ who, what, at: [x, y], r }) {
  return html`<a class=${`${seatClass(who)} is-${what}`} href=${`#live-${encodeURI(who.id)}`} aria-label=${t("{initials}, {name}: {state}", { initials: initials(who.name), name: who.name, state: DOING[what]() })}>
    <circle cx=${x} cy=${y} r=${r} />
    ${(what === "writing" || what === "thinking") && html`<circle class="ring" cx=${x} cy=${y} r=${r + 4.5} />`}
    ${what === "called" && html`<circle class="call" cx=${x} cy=${y} r=${r + 4} />`}
    <text x=${x} y=${y + r / 4}>${initials(who.name)}</text>
    ${what === "spoke" && html`<circle class="done" cx=${x + r * 0.75} cy=${y - r * 0.75} r="6.5" /><path class="tick" d=${`m${x + r * 0.75 - 3} ${y - r * 0.75 + 0.2} 2.1 2.1 4-4.5`} />`}
  </a>`;
}
