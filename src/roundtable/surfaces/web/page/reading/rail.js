// Where one is on the page, and where one can go.
import { plural } from "../format.js";
import { html } from "../ui.js";
import { roundTitle } from "./rounds.js";

export function Rail({ state, derived }) {
  const items = [];
  if ((derived && derived.verdict) || (state.closed && state.closed.status !== "concluded")) items.push(["verdict", "Verdict"]);
  items.push(["discussion", "Discussion"]);
  const after = [];
  if (derived) {
    if (derived.points.length) after.push(["points", "Points"]);
    if (derived.pictures.length) after.push(["pictures", "Pictures"]);
    if (derived.ballots.length || derived.scores.length) after.push(["votes", derived.ballots.length ? "Who holds what" : "Scores"]);
    if (derived.changes.length || derived.talk.voters || (derived.verdict && derived.verdict.changed_minds)) after.push(["talk", "What talk changed"]);
    if (derived.notes.length) after.push(["notes", "Notes"]);
    if (derived.costs.length) after.push(["costs", "Costs"]);
  }
  const newest = state.rounds.length ? state.rounds[state.rounds.length - 1].place : -1;
  const link = ([id, title]) => html`<li><a href=${`#${id}`}>${title}</a></li>`;
  return html`<nav class="contents" aria-label="Contents">
    <ul>${items.map(link)}</ul>
    ${state.rounds.length > 0 && html`<ol class="timeline" aria-label="Rounds">${state.rounds.map((round) => html`<li class=${round.place === newest && !state.closed ? "now" : ""}>
      <a href=${`#round-${round.place}`} title=${`${roundTitle(round.place)}: ${plural(round.items.filter((item) => item.kind === "speech").length, "speech", "speeches")}`}>${round.place ? html`<span class="sr">Round </span>${round.place}` : "Opening"}</a></li>`)}</ol>`}
    <ul>${after.map(link)}</ul>
  </nav>`;
}
