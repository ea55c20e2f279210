// A citation: who said it and in which round. Hover and focus show the words and what was checked of
// them; a click leads to the sentence.
import { useEffect, useId, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { languageOf, quoted, seatClass } from "../parts.js";
import { goTo } from "../reading/places.js";
import { person } from "../reducer.js";
import { html } from "../ui.js";
import { later, n, t } from "../words.js";

const CHECKS = {
  "word for word": later("word for word in the speech"),
  shortened: later("shortened"),
  translated: later("translated"),
  "second hand": later("quoted there from somebody else"),
  "not found": later("not found in the speech"),
};
/** Citations beside one sentence; what is more is behind a button. */
const BESIDE = 3;

let show = () => {};

function label(cite) {
  return cite.round ? t("{name}, round {round}", { name: cite.short, round: cite.round }) : cite.short;
}

function checked(cite) {
  return CHECKS[cite.check] ? t(CHECKS[cite.check]) : "";
}

/** Which note at the end of the printed page a citation has; see `numbered`. */
function keyOf(cite) {
  return `${cite.turn_id}\n${cite.words}`;
}

export function Cite({ cite, state, notes }) {
  const id = useId();
  const place = useRef(null);
  const told = [cite.words && quoted(cite.words), checked(cite)].filter(Boolean).join(" ");
  const open = () => cite.words && show({ cite, at: place.current });
  const close = () => show(null);
  const go = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    close();
    goTo(cite.anchor, cite.words);
  };
  const number = notes && notes.get(keyOf(cite));
  return html`<a class=${`cite ${seatClass(person(state, cite.participant))}${["not found", "second hand"].includes(cite.check) ? " unfound" : ""}`} ref=${place}
      href=${`#${encodeURI(cite.anchor)}`} aria-describedby=${told ? id : undefined}
      onMouseEnter=${open} onMouseLeave=${close} onFocus=${open} onBlur=${close} onClick=${go}><bdi dir="ltr">${label(cite)}</bdi>${number && html`<sup class="on-paper">${number}</sup>`}</a>${told && html`<span hidden id=${id}>${told}</span>`}`;
}

export function Cites({ cites, state, notes }) {
  const [all, setAll] = useState(false);
  const shown = all ? cites : cites.slice(0, BESIDE);
  const left = cites.length - shown.length;
  return html`<span class="cites">${shown.map((cite) => html`<${Cite} key=${keyOf(cite)} cite=${cite} state=${state} notes=${notes} /> `)}
    ${left > 0 && html`<button type="button" class="cite rest" aria-label=${n(left, "{n} more source", "{n} more sources")} onClick=${() => setAll(true)}>+${left}</button>`}</span>`;
}

/** The one bubble of the page. What is in it is also said to those who see no bubble. */
export function Tip() {
  const [shown, set] = useState(null);
  const place = useRef(null);
  useEffect(() => {
    show = set;
    const escaped = (event) => event.key === "Escape" && set(null);
    document.addEventListener("keydown", escaped);
    return () => {
      show = () => {};
      document.removeEventListener("keydown", escaped);
    };
  }, []);
  useLayoutEffect(() => {
    if (!shown) return undefined;
    // Whoever comes with the keyboard is scrolled to the chip: the bubble goes along.
    const put = () => {
      const [chip, bubble] = [shown.at.getBoundingClientRect(), place.current.getBoundingClientRect()];
      if (chip.bottom < 0 || chip.top > innerHeight) {
        set(null);
        return;
      }
      const above = chip.top - bubble.height - 8;
      place.current.style.left = `${Math.max(16, Math.min(chip.left, innerWidth - bubble.width - 16))}px`;
      place.current.style.top = `${above > 60 ? above : chip.bottom + 8}px`;
    };
    put();
    addEventListener("scroll", put, { passive: true, capture: true });
    return () => removeEventListener("scroll", put, { capture: true });
  }, [shown]);
  if (!shown) return null;
  const { cite } = shown;
  const check = checked(cite);
  return html`<div class="tip" role="tooltip" ref=${place} aria-hidden="true">
    <q dir="auto" lang=${languageOf(cite.words)}>${cite.words}</q>
    <span class="soft xs"><bdi dir="ltr">${cite.round ? t("{name}, round {round}", { name: cite.name, round: cite.round }) : cite.name}</bdi>${check && html`<span class=${cite.check === "word for word" ? undefined : "warned"}> · ${check}</span>`}</span>
  </div>`;
}

/** Every quotation behind a chip with its number, in the order in which they are read: the notes of
 * the printed page. */
export function numbered(decision) {
  const all = [
    ...decision.why.flatMap((each) => each.cites),
    ...(decision.dissent.strongest_against && decision.dissent.strongest_against.cite ? [decision.dissent.strongest_against.cite] : []),
    ...decision.would_change.flatMap((each) => each.cites),
    ...decision.experts.flatMap((each) => (each.cause && each.cause.cite ? [each.cause.cite] : [])),
  ].filter((cite) => cite.words);
  const notes = new Map();
  for (const cite of all) if (!notes.has(keyOf(cite))) notes.set(keyOf(cite), notes.size + 1);
  const told = new Map(all.map((cite) => [keyOf(cite), cite]));
  return { notes, list: [...notes.keys()].map((key) => told.get(key)) };
}

/** The quotations on paper, where nothing can be pointed at. */
export function PaperNotes({ list }) {
  if (!list.length) return null;
  return html`<section class="paper-notes on-paper" aria-hidden="true"><h2>${t("Quotations")}</h2>
    <ol>${list.map((cite) => html`<li><bdi>${quoted(cite.words)}</bdi> <span class="soft">${cite.round ? t("{name}, round {round}", { name: cite.name, round: cite.round }) : cite.name}${checked(cite) && `, ${checked(cite)}`}</span></li>`)}</ol>
  </section>`;
}
