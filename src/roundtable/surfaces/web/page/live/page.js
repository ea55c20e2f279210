// Watching, leading and taking part while it goes on.
import { useRef } from "../vendor/hooks.js";
import { html } from "../ui.js";
import { Controls, SpeakBox } from "./controls.js";
import { Table } from "./table.js";

const NOTHING = {};

/** The first screen of a discussion that goes on. */
export function Live({ base, info, state, derived, mySeat, chairs, refresh }) {
  const called = derived && !state.closed ? derived.open_turns.filter((turn) => turn.outside).map((turn) => turn.participant).join(" ") : "";
  return html`<${Table} state=${useTable(state)} progress=${derived ? derived.progress : ""} mySeat=${mySeat} called=${called} />
    ${chairs && state.seq > 0 && html`<${Controls} base=${base} id=${info.discussion_id} state=${state} derived=${derived} links=${info.links || NOTHING} refresh=${refresh} />`}`;
}

/** What stays at hand below everything: one's own turn. */
export function Dock({ base, state, derived, mySeat }) {
  return mySeat ? html`<${SpeakBox} base=${base} state=${state} derived=${derived} seat=${mySeat} />` : null;
}

/** The table is drawn again only when something at it changed, not with every word. */
function useTable(state) {
  const last = useRef(state);
  const names = ["host", "seats", "sat", "stage", "speaking", "closed", "paused", "rounds", "speeches"];
  if (names.some((name) => last.current[name] !== state[name])) last.current = state;
  return last.current;
}
