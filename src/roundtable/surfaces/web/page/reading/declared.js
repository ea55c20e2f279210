// What a speech declares, in plain words: options, points and people by what they are, never by ids.
import { bare } from "../format.js";
import { html } from "../ui.js";
import { later, laterCounted, n, t } from "../words.js";

const LABELS = {
  votes: later("Votes for"),
  own: later("Votes for a position of its own"),
  any: later("Has no preference among the options"),
  accepts: later("Could live with"),
  rejects: later("Rejects"),
  abstains: later("Takes no position"),
  demands: later("Demands"),
  asks: later("To find out"),
  moved: later("Moved by {name}"),
  adopts: later("Takes over from {name}"),
  agree: later("Agrees with"),
  partly: later("Agrees in part with"),
  disagree: later("Disagrees with"),
  unsure: later("Is unsure about"),
  amend: later("Rewords"),
  withdraw: later("Withdraws"),
  raises: later("Raises"),
  ends: later("Would end the discussion now"),
  "goes on": later("Would go on"),
  "to do": later("To do"),
  "for the record": later("For the record"),
};
/** In this order, whatever the declaration's is; what is left out stands elsewhere. */
const ORDER = Object.keys(LABELS);
const FIRST = new Set(["votes", "own", "any", "abstains", "demands", "asks", "moved"]);
const COUNTED = {
  accepts: laterCounted("Could live with {n} other", "Could live with {n} others"),
  rejects: laterCounted("Rejects {n} option", "Rejects {n} options"),
  agree: laterCounted("Agrees with {n} point", "Agrees with {n} points"),
  partly: laterCounted("Agrees in part with {n} point", "Agrees in part with {n} points"),
  disagree: laterCounted("Disagrees with {n} point", "Disagrees with {n} points"),
  unsure: laterCounted("Is unsure about {n} point", "Is unsure about {n} points"),
  amend: laterCounted("Rewords {n} point", "Rewords {n} points"),
  withdraw: laterCounted("Withdraws {n} point", "Withdraws {n} points"),
  raises: laterCounted("Raises {n} point", "Raises {n} points"),
  "to do": laterCounted("{n} thing to do", "{n} things to do"),
};
const WARNS = new Set(["disagree", "rejects", "abstains"]);

/** What it holds in one line, and how sure it is. */
export function positionOf(item, named) {
  const lines = item.declared || [];
  const held = lines.find((line) => line.code === "holds");
  const sure = held && held.sure !== undefined ? held.sure : null;
  if (held && held.text) return { text: bare(held.text), sure, own: true };
  const abstains = lines.find((line) => line.code === "abstains");
  if (abstains) return { text: t("Takes no position: {reason}", { reason: abstains.text }), sure: null, own: true };
  const vote = lines.find((line) => line.code === "votes" && named[line.ids[0]]);
  if (vote) return { text: t("Votes for “{option}”", { option: named[vote.ids[0]] }), sure, own: true };
  for (const code of ["own", "any"]) if (lines.some((line) => line.code === code)) return { text: t(LABELS[code]), sure, own: true };
  return { text: bare(item.first || ""), sure, own: false };
}

/** A point of its own that a speech raises and agrees with is said once. */
function told(lines) {
  const raised = new Set(lines.filter((line) => line.code === "raises").flatMap((line) => line.ids));
  return lines.filter((line) => line.code === "raises" || !line.ids.length || !line.ids.every((id) => raised.has(id)));
}

/** What a speech declares by what it is called, options and points by what they say. */
function rowsOf(lines, named, nameOf) {
  const rows = new Map();
  for (const line of told(lines)) {
    if (!LABELS[line.code]) continue;
    // What is not known by its words is not said: an id tells nobody anything.
    const things = line.code === "raises" ? [line.text] : line.ids.length ? line.ids.map((id) => named[id]).filter(Boolean) : [line.text];
    if (line.ids.length && !things.length) continue;
    const label = t(LABELS[line.code], { name: line.who ? nameOf(line.who) : "" });
    if (!rows.has(label)) rows.set(label, { code: line.code, label, things: [] });
    const more = line.ids.length && line.code !== "raises" ? line.text : line.code === "to do" ? line.who : "";
    for (const thing of things) if (thing) rows.get(label).things.push({ thing, more });
  }
  return [...rows.values()].sort((one, two) => ORDER.indexOf(one.code) - ORDER.indexOf(two.code));
}

function Chip({ code, children }) {
  return html`<span class=${`chip ${WARNS.has(code) ? "warn" : "plain"}`}>${children}</span>`;
}

function List({ rows }) {
  return html`<dl class="declared">${rows.map((row) => html`<div key=${row.label}>
    <dt><${Chip} code=${row.code}>${row.label}<//></dt>
    <dd>${row.things.length > 0 && html`<ul>${row.things.map(({ thing, more }) => html`<li dir="auto">${thing}${more && html`<small dir="auto">${more}</small>`}</li>`)}</ul>`}</dd>
  </div>`)}</dl>`;
}

/** What its reader wants to know first: how it votes, on which conditions, and what moved it. */
export function Declared({ lines, named, nameOf }) {
  const rows = rowsOf(lines, named, nameOf).filter((row) => FIRST.has(row.code));
  return rows.length ? html`<${List} rows=${rows} />` : null;
}

/** What it says to the others' points and what else it declares, counted, and whole when opened. */
export function AlsoDeclared({ lines, named, nameOf }) {
  const rows = rowsOf(lines, named, nameOf).filter((row) => !FIRST.has(row.code));
  if (!rows.length) return null;
  return html`<details class="also"><summary><span class="sr">${t("What it says to the points of others, and more:")}</span>${rows.map((row) => html`<${Chip} code=${row.code} key=${row.label}>${COUNTED[row.code] ? n(row.things.length, ...COUNTED[row.code]) : row.label}<//> `)}</summary>
    <${List} rows=${rows} /></details>`;
}
