// What was said: the speeches by round, all at once or one by one.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { Course } from "./course.js";
import { OPEN } from "./folds.js";
import { Rounds } from "./rounds.js";

const NOTHING = {};

export function Talk({ state, derived, folds }) {
  const named = useNamed(derived, state.options);
  const said = useMemo(() => state.rounds.reduce((sum, round) => sum + round.items.filter((item) => item.html && state.sat[item.participant]).length, 0), [state.rounds]);
  // What is being said stands above: as long as nothing was said, there is nothing to head.
  const nothing = !state.speeches && Object.keys(state.speaking).length > 0;
  return html`<section id="discussion" class="talk" aria-labelledby="discussion-head" tabindex="-1">
    <header class=${nothing ? "sr" : "talk-h"}><h2 id="discussion-head">${t("The discussion")}</h2>
      ${said > 0 && html`<span class="soft s"><bdi>${n(said, "{n} speech, with its position in a line", "{n} speeches, each with its position in a line")}</bdi></span>
      <${OpenAll} folds=${folds} />`}</header>
    ${!state.speeches && !Object.keys(state.speaking).length && html`<p class="soft">${state.closed ? t("Nobody spoke.") : t("Nobody has spoken yet. Speeches appear here as they are given.")}</p>`}
    <${Course} course=${derived ? derived.course : null} decision=${derived ? derived.decision : null} sat=${state.sat} host=${state.host} />
    <${Rounds} state=${state} folds=${folds} named=${named} />
  </section>`;
}

/** What ids stand for: from what is derived, and the options as soon as they are put to the vote. */
function useNamed(derived, options) {
  const held = useRef({ derived: null, options: null, named: NOTHING });
  const told = derived && derived.named ? derived.named : NOTHING;
  if (held.current.derived !== told || held.current.options !== options) held.current = { derived: told, options, named: { ...options, ...told } };
  return held.current.named;
}

function OpenAll({ folds }) {
  const [open, set] = useState(Boolean(folds.usual));
  useEffect(() => folds.watch(() => set(Boolean(folds.usual))), [folds]);
  return html`<button type="button" class="link s" onClick=${() => folds.all(open ? "" : OPEN)}>${open ? t("Fold all") : t("Open all")}</button>`;
}
