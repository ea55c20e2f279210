// Where one is on the page, and where one can go. It sticks below the bar and marks what is read.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { html } from "../ui.js";
import { t } from "../words.js";
import { stuck } from "./places.js";
import { roundTitle } from "./stages.js";

/** With more rounds than this they are shown only while one reads there. */
const FEW = 8;
const DISCUSSION = "discussion";
/** Where the experts stand beside the text they are not what is read. */
const BESIDE = "(min-width: 62.01rem)";

/** `sections` are pairs of an id and what it is called, in the order of the page. */
export function Rail({ sections, rounds }) {
  const ids = sections.map(([id]) => id);
  const places = rounds.filter((round) => round.place > 0).map((round) => round.place);
  const now = useReading([...ids, ...places.map((place) => `round-${place}`)].join(" "));
  const row = useRef(null);
  const here = now.round ? DISCUSSION : now.section;
  useEffect(() => {
    // The row goes along, and the page does not.
    const current = row.current.querySelector(now.round ? "[data-round][aria-current]" : "[aria-current]");
    if (current) row.current.scrollTo({ left: current.offsetLeft - row.current.clientWidth / 2 + current.offsetWidth / 2, behavior: "instant" });
  }, [here, now.round]);
  const shown = places.length <= FEW || here === DISCUSSION ? places : [];
  return html`<nav class="rail" aria-label=${t("On this page")}><ul class="wrap" ref=${row}>${sections.map(([id, title]) => html`
    <li key=${id}><a href=${`#${id}`} aria-current=${here === id ? "true" : undefined}>${title}</a></li>
    ${id === DISCUSSION && shown.map((place) => html`<li key=${`round-${place}`} class="of-round"><a href=${`#round-${place}`} data-round=${place} title=${roundTitle(place)} aria-current=${now.round === place ? "true" : undefined}><span class="sr">${roundTitle(place)}</span><span aria-hidden="true">${place}</span></a></li>`)}`)}
  </ul></nav>`;
}

/** The section, and the round, at the line where one reads: right below what sticks to the top. */
function useReading(ids) {
  const [now, set] = useState({ section: "", round: 0 });
  useEffect(() => {
    const wanted = ids.split(" ").filter(Boolean);
    const seen = new Set();
    let end = false;
    const tell = () => {
      const at = wanted.filter((id) => seen.has(id) && !(id === "experts" && matchMedia(BESIDE).matches));
      const sections = wanted.filter((id) => !id.startsWith("round-"));
      const section = end ? sections[sections.length - 1] : at.filter((id) => !id.startsWith("round-")).pop();
      const round = end ? 0 : Number((at.filter((id) => id.startsWith("round-")).pop() || "").slice(6)) || 0;
      // Between two of them one still reads the one before.
      if (section || round) set((before) => (before.section === section && before.round === round ? before : { section, round }));
    };
    const line = stuck() + 40;
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) seen.add(target.id);
        else seen.delete(target.id);
      }
      tell();
    }, { rootMargin: `-${line}px 0px -${Math.max(0, innerHeight - line - 24)}px 0px` });
    const bottom = new IntersectionObserver(([entry]) => {
      end = entry.isIntersecting && scrollY > 0;
      tell();
    });
    const missing = new Set(wanted);
    const look = () => {
      for (const id of missing) {
        const found = document.getElementById(id);
        if (found) {
          watch.observe(found);
          missing.delete(id);
        }
      }
    };
    look();
    const foot = document.querySelector(".foot");
    if (foot) bottom.observe(foot);
    // What comes into the page later is found when the page grows.
    const grown = new ResizeObserver(look);
    grown.observe(document.body);
    return () => {
      watch.disconnect();
      bottom.disconnect();
      grown.disconnect();
    };
  }, [ids]);
  return now;
}
