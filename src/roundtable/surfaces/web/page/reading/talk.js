// What was said: the speeches by round, and whether there is something new.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { plural } from "../format.js";
import { html } from "../ui.js";
import { Rounds, roundTitle } from "./rounds.js";

export function Talk({ state, drafts, find, mount, here }) {
  return html`<section id="discussion" aria-labelledby="discussion-head" tabindex="-1">
    <h2 id="discussion-head">The discussion</h2>
    ${!state.speeches && !Object.keys(state.speaking).length && html`<p class="faint">${state.closed ? "Nobody spoke." : "Nobody has spoken yet. Speeches appear here as they are given."}</p>`}
    ${state.rounds.length > 2 && html`<ol class="timeline" aria-label="Rounds">${state.rounds.map((round) => html`<li><a href=${`#round-${round.place}`}>${round.place ? html`<span class="sr">Round </span>${round.place}` : roundTitle(0)}</a></li>`)}</ol>`}
    <${Rounds} state=${state} drafts=${drafts} find=${find} mount=${mount} />
    <${Newest} state=${state} mount=${mount} here=${here} />
  </section>`;
}

/** Whoever reads at the end stays there; whoever reads elsewhere is told, and not moved. */
function Newest({ state, mount, here }) {
  const end = useRef(null);
  const atEnd = useRef(false);
  const seen = useRef(state.speeches);
  const [behind, setBehind] = useState(0);
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => {
      atEnd.current = entry.isIntersecting;
      if (entry.isIntersecting) {
        seen.current = latest.current;
        setBehind(0);
      }
    });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, []);
  const latest = useRef(0);
  latest.current = state.speeches;
  useEffect(() => {
    if (!here) {
      seen.current = state.speeches;
      return;
    }
    if (atEnd.current && !state.closed) {
      end.current.scrollIntoView({ block: "end" });
      seen.current = state.speeches;
    }
    setBehind(state.speeches - seen.current);
  }, [state.speeches, here]);
  const go = () => {
    mount.current();
    requestAnimationFrame(() => requestAnimationFrame(() => end.current.scrollIntoView({ block: "end" })));
  };
  return html`<div class="end-of-talk" ref=${end}></div>
    ${behind > 0 && !state.closed && html`<button type="button" class="newest" onClick=${go}>↓ ${plural(behind, "new speech", "new speeches")}</button>`}`;
}
