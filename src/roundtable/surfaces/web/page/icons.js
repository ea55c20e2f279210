// The few signs of the interface, drawn with one line. Each is also said in words beside it.
import { html } from "./ui.js";

const PATHS = {
  search: html`<circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 4 4" />`,
  export: html`<path d="M8 2v8M5 7.2 8 10l3-2.8M3 13.5h10" />`,
  share: html`<path d="M8 10V2M5 4.5 8 1.7l3 2.8M3 8v6h10V8" />`,
  theme: html`<circle cx="8" cy="8" r="6" /><path d="M8 2v12M8 4.5h4M8 8h6M8 11.5h4" />`,
  flag: html`<path d="M4 14.5V2h8.5l-2 3.2 2 3.3H4" />`,
  arrow: html`<path d="M3 8h10M9 4l4 4-4 4" />`,
  close: html`<path d="m4 4 8 8M12 4l-8 8" />`,
  down: html`<path d="M8 3v10M4 9l4 4 4-4" />`,
  pause: html`<path d="M5.5 3v10M10.5 3v10" />`,
  play: html`<path d="M5 3l8 5-8 5z" />`,
  remark: html`<path d="M2 3h12v8H7l-3 3v-3H2z" />`,
  document: html`<path d="M4 1.5h5l3 3v10H4zM9 1.5v3h3" />`,
  stop: html`<path d="M4 4h8v8H4z" />`,
  more: html`<path d="M3 8h.01M8 8h.01M13 8h.01" />`,
  help: html`<circle cx="8" cy="8" r="6" /><path d="M6.2 6.3a1.9 1.9 0 1 1 2.6 1.8c-.5.2-.8.5-.8 1.1M8 11.4h.01" />`,
  remove: html`<path d="M2.5 4.5h11M6.5 4.5V3h3v1.5M4 4.5l.7 9h6.6l.7-9" />`,
  document: html`<path d="M4 1.5h5l3 3v10H4zM9 1.5v3h3" />`,
  pen: html`<path d="m3 13 .6-3L11 2.6 13.4 5 6 12.4z" />`,
  swap: html`<path d="M3 5.5h9M9.5 3 12 5.5 9.5 8M13 10.5H4M6.5 8 4 10.5 6.5 13" />`,
  key: html`<circle cx="5" cy="11" r="2.8" /><path d="m7 9 6-6M10.5 5.5l2 2" />`,
  plus: html`<path d="M8 3v10M3 8h10" />`,
};

export function Icon({ name }) {
  return html`<svg class="i" viewBox="0 0 16 16" aria-hidden="true">${PATHS[name]}</svg>`;
}
