import { html } from "./ui.js";
export function Start() { return html`<p>…</p>`; }
