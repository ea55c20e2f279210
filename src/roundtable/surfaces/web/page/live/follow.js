// Following: the page scrolls with the words as they come, until the reader scrolls away.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";

/** Pixels by which the end of the words stays above the dock. */
const ROOM = 24;

function dockHeight() {
  const dock = document.querySelector(".dock");
  return dock ? dock.offsetHeight : 0;
}

/** How far the newest words are below what can be seen; null where nobody is writing. */
function hidden(area) {
  const writing = [...area.querySelectorAll("[data-writing] .growing")].filter((each) => each.offsetParent);
  if (!writing.length) return null;
  const end = Math.max(...writing.map((each) => each.getBoundingClientRect().bottom));
  return end - (innerHeight - dockHeight() - ROOM);
}

/**
 * `area` holds the words, `stage` names what is held now, `spoken` counts what was said. Gives whether
 * the page follows, how much was said since it does not, and what turns it on and off.
 */
export function useFollow(area, stage, spoken, active) {
  const [following, set] = useState(true);
  const [seen, setSeen] = useState(spoken);
  const on = useRef(true);
  const last = useRef({ y: 0, height: 0 });
  const turn = useCallback((now) => {
    on.current = now;
    set(now);
  }, []);
  const follow = useCallback(() => {
    if (!on.current || !area.current) return;
    const below = hidden(area.current);
    if (below !== null && below > 1) scrollBy({ top: below, behavior: "instant" });
    last.current = { y: scrollY, height: document.documentElement.scrollHeight };
  }, []);
  useEffect(() => {
    if (!active) return undefined;
    // Who comes late begins at the top, and is not thrown to the end of what was said before.
    const below = area.current && hidden(area.current);
    if (location.hash || scrollY > 80 || (below !== null && below > innerHeight / 2)) turn(false);
    last.current = { y: scrollY, height: document.documentElement.scrollHeight };
    const moved = () => {
      const before = last.current;
      // Where following itself went.
      if (scrollY === before.y) return;
      const height = document.documentElement.scrollHeight;
      last.current = { y: scrollY, height };
      // What became shorter moves the page by itself.
      if (!on.current || !area.current || height < before.height) return;
      const left = hidden(area.current);
      const top = area.current.getBoundingClientRect();
      if (left === null ? scrollY > before.y && top.bottom < 0 : left > 8 || top.bottom < 0) turn(false);
    };
    const grown = new ResizeObserver(follow);
    grown.observe(area.current);
    addEventListener("scroll", moved, { passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("scroll", moved);
    };
  }, [active]);
  useEffect(() => {
    if (on.current) setSeen(spoken);
  }, [spoken, following]);
  const begun = useRef(stage);
  useEffect(() => {
    if (begun.current === stage) return;
    begun.current = stage;
    // A new stage begins with its columns, not where the old ones ended.
    if (on.current && area.current && area.current.getBoundingClientRect().top < 0) {
      scrollTo({ top: 0, behavior: "instant" });
      follow();
    }
  }, [stage]);
  const toggle = () => {
    if (on.current) {
      turn(false);
      return;
    }
    turn(true);
    if (area.current && hidden(area.current) === null) {
      area.current.scrollIntoView({ block: "nearest", behavior: "instant" });
      if (area.current.getBoundingClientRect().top < 0) scrollTo({ top: 0, behavior: "instant" });
    }
    const below = area.current ? hidden(area.current) : null;
    if (below !== null) scrollBy({ top: below, behavior: "instant" });
    last.current = { y: scrollY, height: document.documentElement.scrollHeight };
  };
  return { following, behind: spoken - seen, toggle };
}

/**
 * When it ends while somebody watches, the page turns into the decision, from its top. Whoever reads
 * elsewhere keeps the place, and is told. Gives whether the watching is still shown, and what ends it.
 */
export function useWatching(over, follow, area) {
  const [mode, set] = useState(over ? "over" : "live");
  const before = useRef(mode);
  useLayoutEffect(() => {
    if (!over) set("live");
    else if (mode === "live") set(!follow.following && area.current && area.current.getBoundingClientRect().top < 0 ? "kept" : "over");
  }, [over]);
  useLayoutEffect(() => {
    if (mode === "over" && before.current !== "over") scrollTo({ top: 0, behavior: "instant" });
    before.current = mode;
  }, [mode]);
  return [over && mode !== "over", () => set("over")];
}
