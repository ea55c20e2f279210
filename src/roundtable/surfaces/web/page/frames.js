// What is not done at once: the page must never stand still for what nobody looks at yet.
import { useEffect, useState } from "./vendor/hooks.js";

/** Milliseconds after which a frame is no longer waited for: a tab that nobody sees has none. */
const NO_FRAME = 250;

/** Once the next frame was drawn. */
export function afterFrame(act) {
  let done = false;
  const once = () => {
    if (!done) act();
    done = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, NO_FRAME);
}

/** Whether a text that may take some lines is cut. The browser tells it once it was laid out: to ask
 * would lay out the whole page for it. */
export function useCut(place, text) {
  const [cut, set] = useState(false);
  useEffect(() => {
    const element = place.current;
    const watch = new ResizeObserver(() => set(element.scrollHeight > element.clientHeight + 2));
    watch.observe(element);
    return () => watch.disconnect();
  }, [text]);
  return cut;
}

/** How many of so many parts are drawn, once it is `ready`: one more after each frame, all on paper. */
export function useParts(ready, number) {
  const [drawn, draw] = useState(0);
  const printing = usePrinting();
  useEffect(() => {
    if (ready && drawn < number) draw(drawn + 1);
  }, [ready, drawn, number]);
  if (!ready) return 0;
  return printing ? number : drawn;
}

let onPaper = false;
const printers = new Set();

function tell(now) {
  onPaper = now;
  for (const ear of printers) ear(now);
}

addEventListener("beforeprint", () => tell(true));
addEventListener("afterprint", () => tell(false));

/** Whether the page is being printed: then nothing waits, and nothing is folded. */
export function usePrinting() {
  const [printing, set] = useState(onPaper);
  useEffect(() => {
    set(onPaper);
    printers.add(set);
    return () => printers.delete(set);
  }, []);
  return printing;
}

/** Places that come near the window are told a few in each frame. */
const FEW = 2;
const acts = new WeakMap();
const waiting = [];
let watch = null;

function some() {
  for (const element of waiting.splice(0, FEW)) {
    const act = acts.get(element);
    if (act) act();
  }
  if (waiting.length) afterFrame(some);
}

function near(entries) {
  const idle = waiting.length === 0;
  for (const { target, isIntersecting } of entries) {
    const at = waiting.indexOf(target);
    if (isIntersecting && at < 0) waiting.push(target);
    else if (!isIntersecting && at >= 0) waiting.splice(at, 1);
  }
  if (idle && waiting.length) some();
}

/** `act` is called once `element` comes near the window. One watch serves them all. */
export function whenNear(element, act) {
  if (!watch) watch = new IntersectionObserver(near, { rootMargin: "120% 0px" });
  acts.set(element, act);
  watch.observe(element);
  return () => {
    watch.unobserve(element);
    acts.delete(element);
  };
}
