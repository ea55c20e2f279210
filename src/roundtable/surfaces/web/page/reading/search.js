// Finding words in what was said: every hit is counted and marked, and one goes from one to the next.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { turnPlace } from "../format.js";
import { person } from "../reducer.js";
import { Icon } from "../icons.js";
import { html } from "../ui.js";
import { t } from "../words.js";
import { positionOf } from "./declared.js";
import { MADE } from "./folds.js";
import { folded, mark, rangesOf } from "./marks.js";
import { soughtIn } from "./found.js";
import { bring, keep, stuck, visit } from "./places.js";

const PAUSE = 120;
const MOST = 5000;
const SHORTEST = 2;
/** Frames for which the words of a hit may take to be made, and pixels between a hit and an edge. */
const FRAMES = 60;
const NEAR = 24;
/** Milliseconds for which a hit is kept in sight while what is above it is laid out. */
const HELD = 1200;
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&#x27;": "'" };
/** What of a speech is looked through, in the order in which it stands in the page. */
const PARTS = ":scope > h4 .name, :scope > h4 .pos, :scope > .said > .words";

const texts = new WeakMap();

/** The words of a speech, in the letters that are compared. */
function textOf(item) {
  if (!texts.has(item)) {
    const plain = (item.html || "").replace(/<\/?(?:a|em|strong|s|code|span)\b[^>]*>/g, "").replace(/<[^>]*>/g, " ").replace(/&(?:amp|lt|gt|quot|#39|#x27);/g, (each) => ENTITIES[each]);
    texts.set(item, folded(plain).replace(/\s+/g, " "));
  }
  return texts.get(item);
}

function count(text, wanted) {
  let found = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found += 1;
  return found;
}

/** Where the words stand: which speech, and the how manieth place in it. */
function hitsOf(state, named, wanted) {
  const hits = [];
  for (const round of state.rounds) {
    for (const item of round.items) {
      if (item.kind === "act") continue;
      const line = [person(state, item.participant).name, positionOf(item, named).text].map(folded);
      const number = line.reduce((sum, each) => sum + count(each, wanted), 0) + count(textOf(item), wanted);
      for (let place = 0; place < number && hits.length < MOST; place += 1) hits.push({ id: item.id, place });
    }
  }
  return hits;
}

function rangesIn(id, words) {
  const article = document.getElementById(turnPlace(id));
  if (!article) return [];
  return [...article.querySelectorAll(PARTS)].flatMap((each) => rangesOf(each, words));
}

/** The place of a hit, once the words that it stands in are made. */
async function rangeOf(hit, wanted) {
  await bring(turnPlace(hit.id));
  for (let frame = 0; frame < FRAMES; frame += 1) {
    const range = rangesIn(hit.id, wanted)[hit.place];
    if (range) return range;
    await new Promise((next) => requestAnimationFrame(next));
  }
  return null;
}

/** What lies over the page below: nothing can be read there. */
function covered() {
  const dock = document.querySelector(".dock");
  return dock ? dock.offsetHeight : 0;
}

/** By how much the page is to be scrolled, so that a hit can be read; none where it can. */
function away(range) {
  const { top, bottom } = range.getBoundingClientRect();
  const line = range.startContainer.parentElement.closest(".said") ? range.startContainer.parentElement.closest("article").querySelector(":scope > h4") : null;
  const under = stuck() + (line && getComputedStyle(line).position === "sticky" ? line.offsetHeight : 0);
  if (top >= under + NEAR && bottom <= innerHeight - covered() - NEAR) return 0;
  return top - under - Math.min(160, innerHeight / 5);
}

/** What is looked for: nothing as long as it is too short to be meant. */
function sought(words) {
  const now = folded(words).replace(/\s+/g, " ").trim();
  return now.length >= SHORTEST || /[^\x00-\x7f]/.test(now) ? now : "";
}

export function useSearch(state, derived, folds, ready) {
  const come = useRef(soughtIn(location.hash));
  const [words, setWords] = useState(come.current);
  const [at, setAt] = useState(-1);
  const [wanted, setWanted] = useState("");
  const seek = (now) => {
    setWanted(now);
    setAt(-1);
  };
  useEffect(() => {
    const now = sought(words);
    if (now === wanted) return undefined;
    const timer = setTimeout(() => seek(now), PAUSE);
    return () => clearTimeout(timer);
  }, [words, wanted]);
  const named = derived && derived.named ? derived.named : state.options;
  const hits = useMemo(() => (wanted ? hitsOf(state, named, wanted) : []), [wanted, state.rounds, named]);
  const paint = useRef(() => {});
  paint.current = () => {
    mark("found", [...new Set(hits.map((hit) => hit.id))].flatMap((id) => rangesIn(id, wanted)));
    const hit = hits[at];
    mark("found-now", hit ? rangesIn(hit.id, wanted).slice(hit.place, hit.place + 1) : []);
  };
  useEffect(() => {
    let frame = 0;
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => paint.current());
    };
    soon();
    if (!wanted) return () => cancelAnimationFrame(frame);
    const end = folds.watch(soon);
    return () => {
      end();
      cancelAnimationFrame(frame);
    };
  }, [hits, at, wanted]);
  const steps = useRef(0);
  const step = async (by) => {
    // Whoever presses Enter sooner than it is looked for finds what was typed.
    if (sought(words) !== wanted) {
      seek(sought(words));
      again.current = by;
      return;
    }
    if (!hits.length) return;
    const next = at < 0 ? (by > 0 ? 0 : hits.length - 1) : (at + by + hits.length) % hits.length;
    setAt(next);
    const hit = hits[next];
    folds.set([hit.id], MADE);
    const mine = (steps.current += 1);
    const range = await rangeOf(hit, wanted);
    // Whoever goes on meanwhile is not brought back.
    if (mine !== steps.current) return;
    // Words may be made anew under it: the place is looked for each time.
    const off = () => {
      const [found] = rangesIn(hit.id, wanted).slice(hit.place);
      return found ? away(found) : 0;
    };
    if (range) keep(off, HELD);
    else {
      // Whoever types goes on typing.
      const before = document.activeElement;
      await visit(turnPlace(hit.id), "", 0);
      if (before && before.isConnected) before.focus({ preventScroll: true });
    }
    paint.current();
  };
  const again = useRef(0);
  useEffect(() => {
    const by = again.current;
    again.current = 0;
    if (by) step(by);
  }, [wanted]);
  // Whoever comes from the list with words is brought to the first place that holds them, or the
  // longest of them.
  useEffect(() => {
    if (!come.current || !wanted || !ready) return;
    if (hits.length) {
      come.current = "";
      step(1);
    } else {
      const [longest] = come.current.split(/\s+/).sort((one, two) => two.length - one.length);
      come.current = longest === come.current ? "" : longest;
      if (come.current) setWords(longest);
    }
  }, [wanted, hits, ready]);
  return { words, setWords, wanted, hits, at, step };
}

/** The field in the bar. Enter goes on, Shift and Enter back, Escape ends it. */
export function Find({ search }) {
  const { words, setWords, wanted, hits, at, step } = search;
  const pressed = (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && words) {
      event.preventDefault();
      setWords("");
    }
  };
  const told = !wanted ? "" : !hits.length ? t("Not found") : at < 0 ? t("{n} found", { n: hits.length }) : t("{n} of {m}", { n: at + 1, m: hits.length });
  return html`<div class=${`find${words ? " finding" : ""}`} role="search">
    <label><span class="sr">${t("Find in the speeches")}</span><${Icon} name="search" /><input type="search" id="find" placeholder=${t("Find in the speeches")} value=${words} onInput=${(event) => setWords(event.target.value)} onKeyDown=${pressed} /></label>
    <span class="found" role="status">${told}</span>
    ${hits.length > 0 && html`<button type="button" class="quiet icon" aria-label=${t("Hit before")} onClick=${() => step(-1)}>↑</button><button type="button" class="quiet icon" aria-label=${t("Next hit")} onClick=${() => step(1)}>↓</button>`}
  </div>`;
}
