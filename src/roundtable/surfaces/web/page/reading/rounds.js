// What was said, round by round: folded to a line each, opened in place. Lines are light, so all of
// them are in the page; words are made when they are asked for.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { usePrinting } from "../frames.js";
import { turnPlace } from "../format.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { t } from "../words.js";
import { MADE, OPEN, useFold } from "./folds.js";
import { Hosted, hostedId } from "./host.js";
import { reaches } from "./places.js";
import { Speech } from "./speech.js";
import { grouped, roundTitle } from "./stages.js";

/** Lines that are put into the page at once; the rest follow while nothing else is to do. */
const AT_ONCE = 30;

/** The speeches of one stage of a round, below each other or side by side. */
function Group({ group, folds, people, named, nameOf }) {
  const beside = Boolean(useFold(folds, `beside/${group.id}`));
  const ids = group.items.filter((item) => item.html).map((item) => item.id);
  const [open, setOpen] = useState(false);
  useEffect(() => folds.watch(() => setOpen(ids.length > 0 && ids.every((id) => folds.is(id)))), [ids.join(" ")]);
  const all = () => folds.set(group.items.map((item) => item.id), open ? "" : OPEN);
  const side = () => {
    folds.set(ids, beside ? "" : MADE);
    folds.set([`beside/${group.id}`], beside ? "" : MADE);
  };
  return html`<section class=${`round${beside ? " beside" : ""}`} id=${group.id} aria-labelledby=${`${group.id}-head`} tabindex="-1">
    <header class="round-h"><h3 id=${`${group.id}-head`}>${group.title}</h3>
      ${ids.length > 1 && html`<div>
        <button type="button" class="link" aria-pressed=${beside ? "true" : "false"} onClick=${side}>${t("Side by side")}</button>
        ${!beside && html`<button type="button" class="link" onClick=${all}>${open ? t("Fold this round") : t("Open this round")}</button>`}</div>`}
    </header>
    <div class="speeches">${group.items.map((item) => html`<${Speech} key=${item.id} item=${item} who=${people(item.participant)} folds=${folds} named=${named} nameOf=${nameOf} />`)}</div>
  </section>`;
}

const Round = memo(function Round({ round, shown, sat, host, procedure, folds, named }) {
  const state = useMemo(() => ({ sat, host, procedure }), [sat, host, procedure]);
  const { groups, hosted } = useMemo(() => grouped(round, state), [round, state]);
  const people = useMemo(() => (id) => person(state, id), [state]);
  const nameOf = useMemo(() => (id) => person(state, id).name, [state]);
  if (!shown) return null;
  return html`
    ${groups.map((group) => html`<${Group} key=${group.id} group=${group} folds=${folds} people=${people} named=${named} nameOf=${nameOf} />`)}
    ${!groups.length && round.place > 0 && html`<section class="round" id=${`round-${round.place}`} tabindex="-1" aria-labelledby=${`round-${round.place}-head`}><header class="round-h"><h3 id=${`round-${round.place}-head`}>${roundTitle(round.place)}</h3></header></section>`}
    ${hosted.length > 0 && html`<${Hosted} place=${round.place} items=${hosted} folds=${folds} people=${people} named=${named} nameOf=${nameOf} />`}`;
});

export function Rounds({ state, folds, named }) {
  const total = state.rounds.length;
  const [limit, setLimit] = useState(AT_ONCE);
  const lines = useRef(0);
  lines.current = state.rounds.reduce((sum, round) => sum + round.items.length, 0);
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    if (limit >= lines.current) return undefined;
    const more = () => setLimit((now) => now + AT_ONCE);
    const idle = window.requestIdleCallback ? requestIdleCallback(more, { timeout: 200 }) : setTimeout(more, 16);
    return () => (window.cancelIdleCallback ? cancelIdleCallback(idle) : clearTimeout(idle));
  }, [limit, total, lines.current]);
  useLayoutEffect(() => {
    const reach = (place) => {
      const number = place.match(/^round-(\d+)/);
      if (number) setLimit(Infinity);
      let found = Boolean(number);
      for (const round of latest.current.rounds) {
        for (const item of round.items) {
          if (item.kind === "act" ? item.id !== place : turnPlace(item.id) !== place) continue;
          setLimit(Infinity);
          if (!latest.current.sat[item.participant]) folds.set([hostedId(round.place)], MADE);
          folds.set([item.id], MADE);
          found = true;
        }
      }
      return found;
    };
    return reaches(reach);
  }, [folds]);
  const printing = usePrinting();
  useLayoutEffect(() => (printing ? folds.all(MADE) : undefined), [folds, printing]);
  let left = printing ? Infinity : limit;
  return html`<div class="rounds">${state.rounds.map((round) => {
    const shown = left > 0;
    left -= round.items.length;
    return html`<${Round} key=${round.place} round=${round} shown=${shown} sat=${state.sat} host=${state.host} procedure=${state.procedure} folds=${folds} named=${named} />`;
  })}</div>`;
}
