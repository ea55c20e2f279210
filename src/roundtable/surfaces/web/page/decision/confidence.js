// How sure the answer is: a word, a range, and the one reason. There is one on a page.
import { directionOf, languageOf } from "../parts.js";
import { html } from "../ui.js";
import { later, t } from "../words.js";

const WORDS = { high: later("High"), medium: later("Medium"), low: later("Low"), none: later("None") };

export function percent(share) {
  return Math.round(share * 100);
}

/** `Medium, 55–75 %`, in words. */
export function sureness({ word, low, high }) {
  const told = t(WORDS[word] || word);
  if (word === "none" || low === null || high === null) return told;
  return t("{word}, {low}–{high} %", { word: told, low: percent(low), high: percent(high) });
}

export function Confidence({ confidence }) {
  const { word, low, high } = confidence;
  const known = word !== "none" && low !== null && high !== null;
  const told = known ? t("Confidence between {low} and {high} percent", { low: percent(low), high: percent(high) }) : t("No confidence is given");
  const range = known ? { insetInlineStart: `${percent(low)}%`, insetInlineEnd: `${100 - percent(high)}%` } : null;
  return html`<div class="sure">
    <p class="vote-h"><span>${t("Confidence")}</span><b><bdi>${sureness(confidence)}</bdi></b></p>
    ${known || word === "none"
      ? html`<div class=${known ? "conf" : "conf none"} role="img" aria-label=${told}>${known && html`<i style=${range}></i>`}</div>`
      : html`<span></span>`}
    ${confidence.reason && html`<p dir=${directionOf(confidence.reason)} lang=${languageOf(confidence.reason)}><bdi>${confidence.reason}</bdi></p>`}
  </div>`;
}
