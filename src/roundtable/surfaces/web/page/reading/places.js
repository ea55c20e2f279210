// Links within the page land where they point: what is not in the page yet is put there first.
import { useEffect, useLayoutEffect, useRef } from "../vendor/hooks.js";
import { turnPlace } from "../format.js";
import { callTurns, knowPlaces, seatClass } from "../parts.js";
import { person } from "../reducer.js";

let jumps = () => {};

/** To a place of the page, and there to these words, if they are given. */
export function goTo(place, words = "") {
  history.replaceState(null, "", `#${encodeURI(place)}`);
  jumps(place, words);
}

export function usePlaces(state, derived, mount) {
  const latest = useRef({});
  latest.current = { state, derived };
  // Before anything below is drawn: what is memoised is not drawn again for a name.
  callTurns((turn) => {
    const [round, , who] = turn.split("/");
    const { name } = person(latest.current.state, who);
    return round === "0" ? name : `${name}, round ${round}`;
  }, (turn) => seatClass(person(latest.current.state, turn.split("/")[2] || "")));
  useLayoutEffect(() => {
    knowPlaces((place) => {
      const { state: here, derived: told } = latest.current;
      if (place.startsWith("point-")) return !told || told.points.some((point) => point.anchor === place) || told.points.length === 0;
      return here.rounds.some((round) => round.items.some((item) => item.kind !== "act" && turnPlace(item.id) === place));
    });
    const jump = (place) => {
      mount.current();
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const target = document.getElementById(place);
        if (!target) return;
        for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
        if (target.querySelector(":scope > details")) target.querySelector(":scope > details").open = true;
        target.scrollIntoView({ block: "start" });
        target.focus({ preventScroll: true });
        target.classList.add("aimed");
        setTimeout(() => target.classList.remove("aimed"), 1600);
      }));
    };
    jumps = jump;
    const clicked = (event) => {
      const link = event.target.closest && event.target.closest('a[href^="#"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const place = decodeURIComponent(link.getAttribute("href").slice(1));
      goTo(place);
    };
    const printing = () => mount.current();
    document.addEventListener("click", clicked);
    addEventListener("beforeprint", printing);
    return () => {
      document.removeEventListener("click", clicked);
      removeEventListener("beforeprint", printing);
    };
  }, []);
  const aimed = useRef(decodeURIComponent(location.hash.slice(1)));
  useEffect(() => {
    // Who comes with a link to a speech is brought there once it is in the page.
    if (!aimed.current || !state.speeches) return;
    mount.current();
    const target = document.getElementById(aimed.current);
    if (target) {
      aimed.current = "";
      target.scrollIntoView({ block: "start" });
      target.focus({ preventScroll: true });
    }
  }, [state.seq]);
}
