// The table, seen from above: who sits where, who speaks now, who has spoken, who is absent.
import { plural, titled, turnPlace } from "../format.js";
import { Disc, seatClass } from "../parts.js";
import { doing, person } from "../reducer.js";
import { html, memo } from "../ui.js";

const SAID = { called: "is called to speak", speaking: "is speaking", spoke: "has spoken", absent: "is absent", waiting: "" };

/** Places around an ellipse, the host at its head; in percent of the room. */
function places(number) {
  return Array.from({ length: number }, (_, n) => {
    const angle = -Math.PI / 2 + (2 * Math.PI * n) / number;
    return { "--x": `${(50 + 44 * Math.cos(angle)).toFixed(2)}%`, "--y": `${(48 + 41 * Math.sin(angle)).toFixed(2)}%` };
  });
}

/** The newest speech of everybody. */
function newestOf(state) {
  const found = {};
  for (const round of state.rounds) for (const item of round.items) if (item.kind === "speech") found[item.participant] = item.id;
  return found;
}

function Seat({ who, what, place, newest, mine }) {
  const told = [who.name, who.role !== who.name ? who.role : "", SAID[what]].filter(Boolean).join(", ");
  const inside = html`<${Disc} who=${who} /><span class="name" aria-hidden="true"><bdi>${who.name}</bdi></span>
    <span class="sr">${told}${mine ? ", your seat" : ""}</span>
    ${mine && html`<span class="you" aria-hidden="true">you</span>`}
    ${what === "speaking" && html`<span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>`}
    ${what === "spoke" && html`<span class="tick" aria-hidden="true">✓</span>`}
    ${what === "absent" && html`<span class="tick" aria-hidden="true">–</span>`}`;
  const title = [who.name, who.role !== who.name ? who.role : "", who.perspective, who.models.join(" → ")].filter(Boolean).join("\n");
  return html`<li class=${`seat ${seatClass(who)} is-${what}`} style=${place} title=${title}>
    ${newest ? html`<a href=${`#${encodeURI(turnPlace(newest))}`}>${inside}</a>` : html`<span class="sitting">${inside}</span>`}
  </li>`;
}

/** `called` are those from outside whose words are waited for, parted by blanks. */
export const Table = memo(function Table({ state, progress, mySeat, called }) {
  if (!state.host) return null;
  const people = [state.host, ...state.seats.map((id) => person(state, id))];
  const waited = new Set(called ? called.split(" ") : []);
  const around = places(people.length);
  const newest = newestOf(state);
  const speaking = [...new Set(Object.values(state.speaking).map((each) => person(state, each.participant).name))];
  const many = people.length > 9 ? "many" : people.length > 6 ? "some" : "few";
  return html`<section class=${`table ${many}${state.closed ? " over" : ""}`} aria-label="The table">
    <div class="top" aria-hidden="true"></div>
    <div class="middle-of-table">
      <p class="stage">${now(state)}</p>
      <p class="who">${center(state, speaking, people.filter((who) => waited.has(who.id)).map((who) => who.name))}</p>
      ${progress && html`<p class="faint small">${progress}</p>`}
    </div>
    <ul class="seats">${people.map((who, n) => html`<${Seat} key=${who.id} who=${who} what=${waited.has(who.id) ? "called" : doing(state, who.id)} place=${around[n]} newest=${newest[who.id]} mine=${mySeat === who.id} />`)}</ul>
  </section>`;
});

function now(state) {
  if (state.closed) return { concluded: "Concluded", stopped: "Stopped", failed: "Failed" }[state.closed.status];
  if (state.paused) return "Paused";
  if (!state.stage) return "Opening";
  const name = titled(state.stage.stage);
  return state.stage.round ? `Round ${state.stage.round} · ${name}` : name;
}

function center(state, speaking, called) {
  if (state.closed) {
    const rounds = Math.max(0, ...state.rounds.map((round) => round.place));
    return `${plural(state.speeches, "speech", "speeches")} in ${plural(rounds, "round")}`;
  }
  if (state.paused) return state.paused.reason || `by ${state.paused.by}`;
  if (!speaking.length && called.length) return `Waiting for ${called.join(", ")}`;
  if (!speaking.length) return "Nobody is speaking";
  if (speaking.length > 3) return `${speaking.length} are speaking`;
  return `${speaking.join(", ")} ${speaking.length > 1 ? "are" : "is"} speaking`;
}
