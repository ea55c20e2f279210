// All points and stances: who holds what on which claim, and how that moved.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { usePrinting } from "../frames.js";
import { Face, Parts, Picture, seatClass, TurnLink } from "../parts.js";
import { reaches } from "../reading/places.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { n, t } from "../words.js";

const SIGNS = { agree: "✓", partly: "◐", disagree: "✗", unsure: "?", withdraw: "✗", amend: "✓" };

export function hasStandings(derived) {
  return Boolean(derived && (derived.points.length || derived.ballots.length || derived.scores.length));
}

/** Folded: whoever wants every single stance opens it. */
export const Standings = memo(function Standings({ derived, sat, host, turns }) {
  const [open, setOpen] = useState(false);
  const shown = useRef(derived);
  shown.current = derived;
  // Hundreds of stances that nobody asked for are not made; whoever is led to one gets them.
  useEffect(() => reaches((place) => {
    const ours = place === "holds" || place === "scores" || shown.current.points.some((point) => point.anchor === place);
    if (ours) setOpen(true);
    return ours;
  }), []);
  const printing = usePrinting();
  const shows = open || printing;
  if (!hasStandings(derived)) return null;
  const { points, camps, bridges, pictures, ballots, scores } = derived;
  return html`<section class="standings" id="points" aria-labelledby="points-head" tabindex="-1">
    <details class="whole-record" open=${shows} onToggle=${(event) => event.target === event.currentTarget && !printing && setOpen(event.target.open)}><summary><h2 id="points-head">${t("All points and stances")}</h2> <span class="soft s">${n(points.length, "{n} point", "{n} points")}</span></summary>
      ${shows && html`<${Camps} camps=${camps} bridges=${bridges} sat=${sat} host=${host} />
      ${points.length > 0 && html`<${Points} points=${points} sat=${sat} host=${host} />`}
      ${pictures.length > 0 && html`<div class="pictures">${pictures.map((each) => html`<${Picture} key=${each.kind} svg=${each.svg} caption=${each.caption} />`)}</div>`}
      ${ballots.length > 0 && html`<div id="holds" class="tables"><h3>${t("Who holds what")}</h3><${Parts} parts=${ballots} turns=${turns} /></div>`}
      ${scores.length > 0 && html`<div id="scores" class="tables"><h3>${t("Scores")}</h3><${Parts} parts=${scores} turns=${turns} /></div>`}`}
    </details>
  </section>`;
});

/** The turns that had an outcome when this was derived: what is newer is not named in it. */
export function useTurns(derived, state) {
  const seq = derived ? derived.seq : 0;
  return useMemo(() => Object.fromEntries(state.rounds.flatMap((round) => round.items.map((item) => [item.id, true]))), [seq]);
}

function Stance({ who, stance }) {
  const path = stance.track.length > 1 ? stance.track.map((step) => SIGNS[step.position]).join("→") : SIGNS[stance.position];
  const told = stance.track.length > 1
    ? stance.track.map((step) => t("{position} in round {round}", { position: t(step.position), round: step.round })).join(", ")
    : t(stance.position);
  const words = stance.text ? `: ${stance.text}` : "";
  return html`<li class=${`stance ${stance.position} ${seatClass(who)}`} title=${`${who.name}: ${told}${words}`}>
    <span class="sign" aria-hidden="true">${path}</span> <bdi>${who.name}</bdi><span class="sr">: ${told}${words}</span>
  </li>`;
}

const Points = memo(function Points({ points, sat, host }) {
  const state = { sat, host };
  return html`<ol class="points">${points.map((point) => html`<li id=${point.anchor} key=${point.id} class=${point.standing} tabindex="-1">
    <p class="claim"><span class=${`standing ${point.standing}`}>${point.bridge ? t("bridge") : t(point.standing)}</span> <span dir="auto">${point.text}</span></p>
    <ul class="stances" aria-label=${t("Stances on this point")}>${Object.entries(point.stances).map(([id, stance]) => html`<${Stance} key=${id} who=${person(state, id)} stance=${stance} />`)}</ul>
    ${point.raised_by && html`<p class="soft xs">${t("Raised by {name}", { name: person(state, point.raised_by).name })}${point.turn_id && html` <${TurnLink} turn=${point.turn_id} />`}</p>`}
  </li>`)}</ol>`;
});

const Camps = memo(function Camps({ camps, bridges, sat, host }) {
  if (!camps.length) return null;
  const state = { sat, host };
  const names = (ids) => ids.map((id) => html`<span class="member"><${Face} who=${person(state, id)} kind="sm" /><bdi>${person(state, id).name}</bdi></span>`);
  return html`<div class="camps">${camps.map((camp) => html`<p><b>${t("Camp {label}", { label: camp.label })}</b> ${names(camp.members)}</p>`)}
    ${bridges.length > 0 && html`<p><b>${t("Between them")}</b> ${names(bridges)}</p>`}</div>`;
});
