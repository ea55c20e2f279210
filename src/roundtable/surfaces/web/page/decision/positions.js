// Where everybody stands, how that moved, and what talk changed.
import { plural, titled } from "../format.js";
import { Disc, Parts, Picture, seatClass, TurnLink, Words } from "../parts.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";

const SIGNS = { agree: "✓", partly: "◐", disagree: "✗", unsure: "?", withdraw: "✗", amend: "✓" };
const STANDINGS = { agreed: "agreed", held: "held", disputed: "disputed", rejected: "rejected", withdrawn: "withdrawn", open: "open" };

function Stance({ who, stance }) {
  const path = stance.track.length > 1 ? stance.track.map((step) => SIGNS[step.position]).join("→") : SIGNS[stance.position];
  const told = stance.track.length > 1
    ? stance.track.map((step) => `${step.position} in round ${step.round}`).join(", then ")
    : stance.position;
  const words = stance.text ? `: ${stance.text}` : "";
  return html`<li class=${`stance ${stance.position} ${seatClass(who)}`} title=${`${who.name}: ${told}${words}`}>
    <span class="sign" aria-hidden="true">${path}</span> <bdi>${who.name}</bdi><span class="sr">: ${told}${words}</span>
  </li>`;
}

export const Points = memo(function Points({ points, sat, host }) {
  const state = { sat, host };
  return html`<ol class="points">${points.map((point) => html`<li id=${point.anchor} key=${point.id} class=${point.standing} tabindex="-1">
    <p class="claim"><span class=${`standing ${point.standing}`}>${point.bridge ? "bridge" : STANDINGS[point.standing]}</span> <span dir="auto">${point.text}</span></p>
    <ul class="stances" aria-label=${`Stances on ${point.id}`}>${Object.entries(point.stances).map(([id, stance]) => html`<${Stance} key=${id} who=${person(state, id)} stance=${stance} />`)}</ul>
    <p class="faint small">${point.id}${point.raised_by && html` · raised by <bdi>${person(state, point.raised_by).name}</bdi>`}${point.turn_id && html` in <${TurnLink} turn=${point.turn_id} />`}</p>
  </li>`)}</ol>`;
});

/** How many points are shared, disputed and open, as one bar. */
export function Balance({ points }) {
  const kinds = ["agreed", "held", "open", "disputed", "rejected", "withdrawn"];
  const number = (kind) => points.filter((point) => point.standing === kind).length;
  const text = kinds.filter(number).map((kind) => `${number(kind)} ${STANDINGS[kind]}`).join(", ");
  return html`<div class="balance" role="img" aria-label=${`Of ${plural(points.length, "point")}: ${text}`}>
    ${kinds.filter(number).map((kind) => html`<span class=${kind} style=${{ flexGrow: String(number(kind)) }}>${number(kind)} ${STANDINGS[kind]}</span>`)}
  </div>`;
}

export const Camps = memo(function Camps({ camps, bridges, sat, host }) {
  if (!camps.length) return null;
  const state = { sat, host };
  const names = (ids) => ids.map((id) => html`<span class=${`member ${seatClass(person(state, id))}`}><${Disc} who=${person(state, id)} /><bdi>${person(state, id).name}</bdi></span>`);
  return html`<div class="camps">${camps.map((camp) => html`<p><strong>Camp ${camp.label}</strong> ${names(camp.members)}</p>`)}
    ${bridges.length > 0 && html`<p><strong>Between them</strong> ${names(bridges)}</p>`}</div>`;
});

export const Pictures = memo(function Pictures({ pictures }) {
  return html`<div class="pictures">${pictures.map((each) => html`<${Picture} key=${each.kind} svg=${each.svg} caption=${each.caption} />`)}</div>`;
});

/** What talk changed, against the first round as the control group. */
export const Talk = memo(function Talk({ derived, turns }) {
  const { talk, verdict, changes } = derived;
  const told = [];
  if (talk.voters) {
    const gave = talk.gave_in ? `, ${talk.gave_in} of them without naming an argument` : "";
    told.push(talk.ballots
      ? `${talk.ballots} of ${plural(talk.voters, "participant")} voted otherwise at the end than before anybody had talked${gave}.`
      : `Nobody of ${plural(talk.voters, "voter")} voted otherwise at the end than before talk.`);
  }
  if (talk.stances) {
    const without = talk.capitulations ? `; ${talk.capitulations} of them without naming a new argument` : "";
    told.push(`${plural(talk.stances, "stance was", "stances were")} given up${without}.`);
  }
  const said = verdict && verdict.changed_minds;
  if (!told.length && !said && !changes.length) return null;
  return html`<section id="talk" aria-labelledby="talk-head">
    <h2 id="talk-head">What talk changed</h2>
    ${told.map((line) => html`<p>${line}</p>`)}
    ${said && html`<${Words} checked markup=${said} under=${2} />`}
    ${changes.length > 0 && html`<${Parts} parts=${changes} turns=${turns} />`}
  </section>`;
});

export const Votes = memo(function Votes({ ballots, scores, turns }) {
  if (!ballots.length && !scores.length) return null;
  return html`<section id="votes" aria-labelledby="votes-head">
    <h2 id="votes-head">${ballots.length ? "Who holds what" : "Scores"}</h2>
    <${Parts} parts=${[...ballots, ...scores]} turns=${turns} />
  </section>`;
});

