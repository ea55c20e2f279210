// One way to go to a place of the page. What is folded is opened, what is not in the page yet is put
// there, and one lands at once: nothing scrolls past the reader.
import { useEffect, useLayoutEffect, useRef } from "../vendor/hooks.js";
import { turnPlace } from "../format.js";
import { callTurns, knowPlaces, seatClass } from "../parts.js";
import { person } from "../reducer.js";
import { t } from "../words.js";
import { mark, quotedIn } from "./marks.js";

/** Frames until whatever was asked for is in the page, and milliseconds for which it is held there
 * while things around it still come. */
const FRAMES = 40;
const HELD = 2500;
const HELD_AT_FIRST = 8000;
const MARKED = 5000;
const ROOM = 12;
const STEPS = 12;

const reachers = new Set();
let resolve = (place) => ({ place, words: "" });
let release = () => {};

/** Whoever can put places into the page says so: `reach(place)` does it, and tells whether it can. */
export function reaches(reach) {
  reachers.add(reach);
  return () => reachers.delete(reach);
}

/** Goes to a place; with `words`, to the sentence there that holds them. The way back leads to where
 * one was. Tells whether it is there. */
export function goTo(place, words = "") {
  const hash = `#${encodeURI(place)}`;
  history.replaceState({ ...history.state, here: here() }, "");
  if (placeIn(location.hash) !== place) history.pushState(null, "", hash);
  return visit(place, words);
}

/** Puts a place into the page without going there; gives what is there then. */
export async function bring(place) {
  reached(place);
  return there(place);
}

/** Goes to where `at` says that it is wanted, and keeps it there while things around it still come. */
export function keep(at, held = HELD) {
  land(at);
  hold(at, held);
}

/** The same, without a word in the address bar. */
export async function visit(place, words = "", held = HELD) {
  const wanted = reached(place) ? { place, words: "" } : resolve(place);
  if (wanted.place !== place) reached(wanted.place);
  const quoted = words || wanted.words;
  const target = await there(wanted.place);
  if (!target) return false;
  unfold(target);
  for (const inner of target.querySelectorAll(":scope > details")) inner.open = true;
  const range = quoted ? quotedIn(target, quoted) : null;
  if (range) unfold(range.startContainer.parentElement);
  const at = () => (range || target).getBoundingClientRect().top - below(target, range);
  land(at);
  focusOn(target);
  if (range) {
    mark("quoted", [range]);
    setTimeout(() => mark("quoted", []), MARKED);
  }
  target.classList.add("aimed");
  setTimeout(() => target.classList.remove("aimed"), 1600);
  hold(at, held);
  return true;
}

/** Opens whatever fold holds something. */
export function unfold(element) {
  for (let outer = element.closest("details:not([open])"); outer; outer = outer.parentElement.closest("details:not([open])")) outer.open = true;
}

function reached(place) {
  return [...reachers].filter((reach) => reach(place)).length > 0;
}

/** Where the page begins below what sticks to the top of the window. */
export function stuck() {
  return ["header.bar", ".rail"].reduce((sum, each) => {
    const found = document.querySelector(each);
    return sum + (found && getComputedStyle(found).position === "sticky" ? found.offsetHeight : 0);
  }, 0);
}

function below(target, range) {
  const line = range && target.querySelector(":scope > h4");
  const sticks = line && getComputedStyle(line).position === "sticky";
  return stuck() + ROOM + (sticks ? line.offsetHeight : 0);
}

/** What sticks beside the text goes along for a while: it is come to in a few steps. */
function land(at) {
  for (let step = 0; step < STEPS; step += 1) {
    const before = scrollY;
    scrollTo({ top: before + at(), behavior: "instant" });
    if (Math.abs(at()) < 2 || scrollY === before) return;
  }
}

function focusOn(target) {
  if (!target.matches("a, button, input, textarea, [tabindex]")) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

/** What is asked for, once it is in the page with its words. */
async function there(place) {
  for (let frame = 0; frame < FRAMES; frame += 1) {
    const found = document.getElementById(place);
    if (found && !found.querySelector(":scope > .said > .unmade")) return found;
    await new Promise((next) => requestAnimationFrame(next));
  }
  return document.getElementById(place);
}

/** Keeps a place where it landed until the reader moves, or nothing comes any more. */
function hold(at, held) {
  release();
  const acts = ["wheel", "touchstart", "keydown", "pointerdown"];
  let timer = setTimeout(() => release(), held);
  const watch = new ResizeObserver(() => {
    if (Math.abs(at()) > 2) land(at);
    // Something still comes: on a slow machine for longer.
    clearTimeout(timer);
    timer = setTimeout(() => release(), held);
  });
  release = () => {
    watch.disconnect();
    clearTimeout(timer);
    for (const each of acts) removeEventListener(each, release, { capture: true });
    release = () => {};
  };
  watch.observe(document.body);
  for (const each of acts) addEventListener(each, release, { capture: true, passive: true });
}

/** The words that a link stands behind: its own, or the quotation before it. */
function wordsOf(link) {
  if (link.dataset.words) return link.dataset.words;
  if (!link.matches(".proof, .cite")) return "";
  let before = link.previousElementSibling;
  while (before && !before.matches(".verified")) before = before.previousElementSibling;
  return before ? before.textContent : "";
}

/** Where the reader is, told by what stands on top of the window: things above it may change. */
function here() {
  const found = document.elementFromPoint(innerWidth / 2, stuck() + 20);
  const place = found && found.closest("article[id], section[id]");
  if (place) return { id: place.id, top: place.getBoundingClientRect().top, y: scrollY };
  return { id: "", top: 0, y: scrollY };
}

function goBack(state) {
  // What the last link holds in its place must not pull the reader back to it.
  release();
  if (state && state.here) {
    const { id, top, y } = state.here;
    const found = id && document.getElementById(id);
    const at = () => (found && found.isConnected ? found.getBoundingClientRect().top - top : y - scrollY);
    requestAnimationFrame(() => keep(at));
  } else if (location.hash) visit(placeIn(location.hash));
  else scrollTo({ top: 0, behavior: "instant" });
}

function placeIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
}

/** The turn in which somebody of this name spoke in a round; empty if nobody did. */
function turnOf(state, name, round) {
  const place = state.rounds.find((each) => String(each.place) === round);
  const alike = (other) => other.toLowerCase().replace(/[\s-]+/g, " ").trim();
  const found = place && place.items.find((item) => item.kind === "speech" && alike(person(state, item.participant).name) === alike(name));
  return found ? found.id : "";
}

/** Links within the page, the address bar and the way back go to places, once the page is `ready`. */
export function usePlaces(state, derived, ready = true) {
  const latest = useRef({});
  latest.current = { state, derived };
  // Before anything below is drawn: what is memoised is not drawn again for a name.
  callTurns((turn) => {
    const [round, , who] = turn.split("/");
    const { name } = person(latest.current.state, who);
    return round === "0" ? name : t("{name}, round {n}", { name, n: round });
  }, (turn) => seatClass(person(latest.current.state, turn.split("/")[2] || "")), (name, round) => turnOf(latest.current.state, name, round));
  useLayoutEffect(() => {
    const pointAt = (place) => (latest.current.derived ? latest.current.derived.points : []).find((point) => point.anchor === place);
    // A point has a place of its own, or that of the speech that raised it.
    resolve = (place) => {
      const point = !document.getElementById(place) && pointAt(place);
      return point && point.turn_id ? { place: turnPlace(point.turn_id), words: point.text } : { place, words: "" };
    };
    knowPlaces((place) => {
      const { state: now, derived: told } = latest.current;
      if (place.startsWith("point-")) return !told || Boolean(pointAt(place));
      return now.rounds.some((round) => round.items.some((item) => item.kind !== "act" && turnPlace(item.id) === place));
    });
    const clicked = (event) => {
      const link = event.target.closest && event.target.closest('a[href^="#"]');
      if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      goTo(placeIn(link.getAttribute("href")), wordsOf(link));
    };
    const popped = (event) => goBack(event.state);
    // The way back within the page is ours; after a reload the browser knows better.
    history.scrollRestoration = "manual";
    const left = () => {
      history.scrollRestoration = "auto";
    };
    document.addEventListener("click", clicked);
    addEventListener("popstate", popped);
    addEventListener("pagehide", left);
    return () => {
      document.removeEventListener("click", clicked);
      removeEventListener("popstate", popped);
      removeEventListener("pagehide", left);
      release();
    };
  }, []);
  // Who comes with a link to a place is brought there once it is known.
  const aimed = useRef(placeIn(location.hash));
  useEffect(() => {
    const place = aimed.current;
    if (!place || !state.speeches || !ready) return;
    const known = document.getElementById(resolve(place).place) || state.rounds.some((round) => round.items.some((item) => turnPlace(item.id) === resolve(place).place));
    if (!known) return;
    aimed.current = "";
    visit(place, "", HELD_AT_FIRST);
  }, [state.seq, derived, ready]);
}
