// Small parts that several sections share.
import { useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import { clock, forPeople, initials, titled, turnPlace, whole } from "./format.js";
import { safeHtml, safeSvg } from "./safe.js";
import { html, memo } from "./ui.js";
import { languageNow, later, n, t } from "./words.js";

const LETTERS = [
  ["ja", /[\u3040-\u30ff]/g],
  ["ko", /[\uac00-\ud7af]/g],
  ["zh", /[\u4e00-\u9fff]/g],
  ["he", /[\u0590-\u05ff]/g],
  ["ar", /[\u0600-\u06ff]/g],
];

const OTHER_LETTERS = /[\u0590-\u06ff\u3040-\uffff]/;

/** Small words that only one of these languages has. */
const SMALL = {
  en: /\b(?:the|and|of|is|that|with|for|are|not|this|we|should|by|from)\b/gi,
  de: /(?<!\p{L})(?:der|die|das|und|ist|nicht|mit|ein|eine|den|für|wir|auf|wird|sollen|von)(?!\p{L})/giu,
  es: /(?<!\p{L})(?:el|la|los|las|y|que|con|para|una|por|se|del|es|más|como)(?!\p{L})/giu,
};
const SAMPLE = 600;

/** The language that the letters, or else the small words, tell, for fonts and voices; undefined where
 * they tell nothing, or that it is the page's own. */
export function languageOf(text) {
  const sample = text.slice(0, SAMPLE);
  if (OTHER_LETTERS.test(sample)) {
    const letters = (sample.match(/\p{L}/gu) || []).length;
    for (const [name, found] of LETTERS) {
      if ((sample.match(found) || []).length * 5 > letters) return name;
    }
  }
  const [first, second] = Object.entries(SMALL).map(([name, found]) => [(sample.match(found) || []).length, name]).sort((one, two) => two[0] - one[0]);
  return first[0] > second[0] && first[1] !== languageNow() ? first[1] : undefined;
}

const OTHER_WAY = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/gu;

/** Which way a text as a whole runs: as most of its letters do, and as its first does where both are
 * many. Its paragraphs go their own way, so the browser would not tell by itself. */
export function directionOf(text) {
  const sample = text.slice(0, 1200);
  if (!OTHER_WAY.test(sample)) return "ltr";
  const letters = sample.match(/\p{L}/gu) || [];
  const share = (sample.match(RIGHT_TO_LEFT) || []).length / (letters.length || 1);
  if (share > 0.2 && share < 0.5) return letters[0].match(RIGHT_TO_LEFT) ? "rtl" : "ltr";
  return share >= 0.5 ? "rtl" : "ltr";
}

/** Words between the quotation marks that belong to the way they run. */
export function quoted(words) {
  return directionOf(words) === "rtl" ? `«${words}»` : `“${words}”`;
}

const NONE = {};
/** Characters of markup by which its language and direction are told. */
const BEGINNING = 4000;
const CALLED = 60;
/** A turn by its id; a seat may be called in any script. */
const ID = String.raw`\d+\/[\w-]+\/[\p{L}\p{M}\p{N}_.-]+`;
const TURN = new RegExp(`^${ID}$`, "u");

/** Words of others, as elements. A citation of something that is not here is no link. */
export const Words = memo(function Words({ markup, kind = "words", checked = false, under = 3, named = NONE }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    const made = safeHtml(markup, under);
    // The program has checked what it derives; a speech may cite whatever it likes.
    for (const link of checked ? [] : made.querySelectorAll("a.cite")) {
      if (!known(link.getAttribute("href"))) {
        if (TURN.test(link.textContent)) unbracket(link);
        link.replaceWith(TURN.test(link.textContent) ? "" : link.textContent);
      }
      else if (named[link.textContent]) link.textContent = clipped(named[link.textContent]);
      else if (TURN.test(link.textContent)) link.textContent = callTurn(link.textContent);
    }
    citeNobody(made);
    if (named !== NONE) nameIn(made, named);
    for (const link of made.querySelectorAll("a.cite")) asChip(link);
    place.current.replaceChildren(made);
  }, [markup, named]);
  const plain = markup.slice(0, BEGINNING).replace(/<[^>]*>?/g, "");
  return html`<div class=${kind} dir=${directionOf(plain)} lang=${languageOf(plain)} ref=${place}></div>`;
});

const NAMED = /\bp\d{1,4}\b/g;

/** Whoever spoke called a point by its number: the words stay, and say on demand what it is. */
function nameIn(made, named) {
  const walk = document.createTreeWalker(made, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walk.nextNode(); node; node = walk.nextNode()) if (!node.parentElement || !node.parentElement.closest("a, code, pre")) found.push(node);
  for (const node of found) {
    const parts = [];
    let done = 0;
    for (const { 0: name, index } of node.data.matchAll(NAMED)) {
      if (!named[name]) continue;
      const link = document.createElement("a");
      link.className = "named";
      link.href = `#point-${name}`;
      link.title = named[name];
      link.textContent = name;
      parts.push(node.data.slice(done, index), link);
      done = index + name.length;
    }
    if (parts.length) node.replaceWith(...parts, node.data.slice(done));
  }
}

/** A point is called by what it says. */
function clipped(text) {
  return text.length > CALLED ? `“${text.slice(0, CALLED).replace(/\s+\S*$/, "")}…”` : `“${text}”`;
}

/** A citation within a text looks as it does beside one: in the colour of its seat, without the
 * brackets that it was written in. */
function asChip(link) {
  unbracket(link);
  const [, kind, id] = decodeURIComponent(link.getAttribute("href") || "").match(/^#(turn|point)-(.*)$/) || [];
  if (kind === "turn") link.classList.add(lookOf(id));
  if (kind === "point" && link.textContent === id) link.textContent = t("point {n}", { n: id.replace(/^\D+/, "") });
}

/** Takes away the brackets around a citation, or around several with marks between them. */
function unbracket(link) {
  const before = textOf(link.previousSibling);
  if (!before || !before.data.endsWith("[")) return;
  const between = [];
  let after = textOf(link.nextSibling);
  while (after && /^\s*[;,]\s*$/.test(after.data) && after.nextSibling && after.nextSibling.localName === "a") {
    between.push(after);
    after = textOf(after.nextSibling.nextSibling);
  }
  if (!after || !after.data.startsWith("]")) return;
  before.data = before.data.slice(0, -1);
  after.data = after.data.slice(1);
  for (const each of between) each.data = " ";
}

function textOf(node) {
  return node && node.nodeType === Node.TEXT_NODE ? node : null;
}

const NOBODYS = new RegExp(`\\s?\\[${ID}\\]`, "gu");

/** How a table in rounds marks whom it speaks of, and whether it agrees. */
const ADDRESSED = /[[【]\s?@\s?([^[\]【】:：\n]{1,80}?)[\s,，]+R\s?(\d{1,3})(?:[:：]([^[\]【】\n]{0,40}))?[\]】]/g;
/** The more special first: “disagree” contains “agree”, and 不同意 contains 同意. */
const STANCES = [
  [/partly|partial|in part|mixed|teilweise|parcial|部分/i, later("Agrees in part with")],
  [/disagree|oppose|reject|widersp|desacuerdo|不同意|反对|不赞同/i, later("Disagrees with")],
  [/agree|support|accept|zustimm|acuerdo|同意|赞同|支持/i, later("Agrees with")],
];

/** A citation of a turn that nobody spoke tells a reader nothing: it is taken away. A mark of whom
 * somebody means leads there, and is said in words where it leads nowhere. */
function citeNobody(made) {
  const walk = document.createTreeWalker(made, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (/[[【]/.test(node.data) && !(node.parentElement && node.parentElement.closest("a, code, pre"))) found.push(node);
  }
  for (const node of found) {
    const text = node.data.replace(NOBODYS, "");
    const parts = [];
    let done = 0;
    for (const match of text.matchAll(ADDRESSED)) {
      parts.push(text.slice(done, match.index), ...addressed(match));
      done = match.index + match[0].length;
    }
    if (parts.length) node.replaceWith(...parts, text.slice(done));
    else node.data = text;
  }
}

function addressed([, name, round, word]) {
  const stance = word && STANCES.find(([known]) => known.test(word));
  const turn = findTurn(name, round);
  const before = stance ? `${t(stance[1])} ` : "";
  if (!turn) return [before + t("({name}, round {n})", { name, n: round })];
  const link = document.createElement("a");
  link.className = "cite";
  link.href = `#${encodeURI(turnPlace(turn))}`;
  link.textContent = callTurn(turn);
  return [before, link];
}

let isKnown = () => true;
let lookOf = () => "host";
let callTurn = (turn) => turn;
let findTurn = () => "";

/** What people call a turn that is cited; the text itself where it cites none. */
export function citedAs(text) {
  return TURN.test(text) ? callTurn(text) : text;
}

/** The page says what people call a turn, by who spoke and in which round, and how it looks. */
export function callTurns(call, look, find) {
  callTurn = call;
  lookOf = look;
  findTurn = find;
}

/** The page says which places there are: speeches and points. */
export function knowPlaces(test) {
  isKnown = test;
}

function known(href) {
  return href ? isKnown(decodeURIComponent(href.slice(1))) : false;
}

export const Picture = memo(function Picture({ svg, caption }) {
  const place = useRef(null);
  useLayoutEffect(() => place.current.replaceChildren(safeSvg(svg)), [svg]);
  return html`<figure class="picture">
    <div class="scroll" tabindex="0" role="group" aria-label=${caption} ref=${place}></div>
    <figcaption>${caption}</figcaption>
  </figure>`;
});

/** The mark of somebody at the table: two letters in the colours of the seat. `sm` is small, `out` is somebody who is not there. */
export function Face({ who, kind = "" }) {
  return html`<span class=${`face ${kind} ${seatClass(who)}`} aria-hidden="true">${initials(who.name)}</span>`;
}

export function seatClass(who) {
  return who.number === null || who.number === undefined ? "host" : `seat${who.number % 12}`;
}

export function Time({ at }) {
  return html`<time datetime=${at} title=${whole(at)}>${clock(at)}</time>`;
}

export function TurnLink({ turn, children }) {
  return html`<a class="cite" href=${`#${encodeURI(turnPlace(turn))}`}>${children || callTurn(turn)}</a>`;
}

/** A table of plain text. Cells that name a turn lead to it. */
export function Grid({ caption, header, rows, numbers = [], folded = false, turns = NONE }) {
  const [open, setOpen] = useState(false);
  const right = new Set(numbers);
  const named = useMemo(() => Object.fromEntries(Object.keys(turns).reverse().map((turn) => [callTurn(turn), turn])), [turns]);
  const cell = (text) => {
    const turn = turns[text] ? text : named[text];
    return turn && !turn.startsWith("0/") ? html`<${TurnLink} turn=${turn} />` : text;
  };
  const table = () => html`<div class="scroll" tabindex="0" role="group" aria-label=${caption || header.join(", ")}>
    <table class="grid">
      ${caption && !folded && html`<caption>${caption}</caption>`}
      <thead><tr>${header.map((head, at) => html`<th scope="col" class=${right.has(at) ? "end" : undefined} dir="auto">${head}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr>${row.map((text, at) => (at
        ? html`<td class=${right.has(at) ? "end" : undefined} dir="auto">${cell(text)}</td>`
        : html`<th scope="row" dir="auto">${cell(text)}</th>`))}</tr>`)}</tbody>
    </table>
  </div>`;
  if (!folded) return table();
  // Hundreds of rows that nobody asked for are not made.
  return html`<details class="fold" onToggle=${(event) => setOpen(event.target.open)}><summary>${caption} <span class="faint">${n(rows.length, "{n} row", "{n} rows")}</span></summary>${open && table()}</details>`;
}

/** Tables and remarks, as the report has them. */
export const Parts = memo(function Parts({ parts, turns }) {
  return parts.map((part) => (part.header ? html`<${Grid} ...${part} turns=${turns} />` : html`<p class="faint" dir="auto">${part.text}</p>`));
});

export function Alert({ title, text, remedy, kind = "warn" }) {
  return html`<div class=${`alert ${kind}`} role="note">
    <p dir="auto"><strong>${title}</strong>${title && text ? " " : ""}${text}</p>
    ${forPeople(remedy) && html`<p class="remedy" dir="auto">${forPeople(remedy)}</p>`}
  </div>`;
}

/** What the server refused, with what to do about it. */
export function Failure({ error }) {
  if (!error) return null;
  return html`<div class="alert bad" role="alert"><p><strong>${error.message}</strong></p>
    ${error.remedy && html`<p class="remedy">${error.remedy}</p>`}</div>`;
}

/** Opens the dialog at this place above the page; with its end the focus goes back to where it was. */
export function useModal(place) {
  // The end of a mere effect comes a frame later: it would take the focus from whoever types by then.
  useLayoutEffect(() => {
    const dialog = place.current;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
}

/** A window above the page. Escape closes it. */
export function Dialog({ title, onClose, children, wide = false }) {
  const place = useRef(null);
  useModal(place);
  const cancelled = (event) => {
    event.preventDefault();
    onClose();
  };
  const outside = (event) => {
    if (event.target === place.current) onClose();
  };
  return html`<dialog class=${wide ? "wide" : ""} ref=${place} aria-labelledby="dialog-title" onCancel=${cancelled} onMouseDown=${outside}>
    <div class="sheet">
      <div class="sheet-h"><h2 id="dialog-title">${title}</h2><button type="button" class="quiet close" aria-label=${t("Close")} onClick=${onClose}>✕</button></div>
      ${children}
    </div>
  </dialog>`;
}

export function Brand({ href }) {
  const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="7.5" class="mark-table" /><g class="mark-seats">${[0, 60, 120, 180, 240, 300].map((angle) => html`<circle cx=${16 + 12.6 * Math.sin((angle * Math.PI) / 180)} cy=${16 - 12.6 * Math.cos((angle * Math.PI) / 180)} r="2.4" />`)}</g></svg>`;
  return href ? html`<a class="brand" href=${href}>${mark}<span>Roundtable</span></a>` : html`<span class="brand">${mark}<span>Roundtable</span></span>`;
}

export const Notes = memo(function Notes({ notes }) {
  return html`<ul class="notes">${notes.map((note) => html`<li>
    <p dir="auto"><span class="code">${titled(note.code.split("/")[0])}</span> ${note.text}</p>
    ${note.remedy && html`<p class="remedy" dir="auto">${note.remedy}</p>`}
  </li>`)}</ul>`;
});
