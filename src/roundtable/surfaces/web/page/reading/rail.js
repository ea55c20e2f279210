// Where one is on the page, and where one can go.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { html } from "../ui.js";
import { t } from "../words.js";

/** Pixels from the top at which a section counts as the one that is read. */
const READING = 180;
/** Where the experts stand beside the text they are no place of their own. */
const BESIDE = "(min-width: 62.01rem)";

/** `sections` are ids with their titles, in the order of the page. */
export function Rail({ sections }) {
  const [now, setNow] = useState("");
  const list = useRef(null);
  const ids = sections.map(([id]) => id).join(" ");
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      const wide = matchMedia(BESIDE).matches;
      const passed = ids.split(" ").filter((id) => {
        const place = document.getElementById(id);
        return place && !(wide && id === "experts") && place.getBoundingClientRect().top < READING;
      });
      setNow(passed.pop() || "");
    };
    const scrolled = () => {
      frame = frame || requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", scrolled, { passive: true });
    addEventListener("resize", scrolled);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", scrolled);
      removeEventListener("resize", scrolled);
    };
  }, [ids]);
  useEffect(() => {
    const link = list.current && list.current.querySelector("[aria-current]");
    if (link) list.current.scrollTo({ left: link.offsetLeft - list.current.offsetLeft - 40 });
  }, [now]);
  return html`<nav class="rail" aria-label=${t("On this page")}><ul class="wrap" ref=${list}>${sections.map(([id, title]) => html`<li key=${id}>
    <a href=${`#${id}`} aria-current=${id === now ? "true" : undefined}>${title}</a></li>`)}</ul></nav>`;
}
