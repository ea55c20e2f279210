// What one does with a decision: ask further, ask again, compare.
import { html } from "./ui.js";

export function GoingOn({ state }) {
  return state.closed ? html`<div id="follow-up"></div>` : null;
}
