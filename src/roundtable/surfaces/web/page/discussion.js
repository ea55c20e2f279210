// One discussion: live while it goes on, and the same when it is long over or a file on a disk.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import { Bar } from "./bar.js";
import { Made } from "./decision/made.js";
import { Decision, Sections, sectionsOf, settledOf } from "./decision/page.js";
import { Standings, useTurns } from "./decision/standings.js";
import { whole } from "./format.js";
import { useParts } from "./frames.js";
import { GoingOn } from "./going-on.js";
import { listenToKeys, step } from "./keys.js";
import { useFollow, useWatching } from "./live/follow.js";
import { Dock, Live } from "./live/page.js";
import { turnOf } from "./live/turn.js";
import { Dialog } from "./parts.js";
import { Folds } from "./reading/folds.js";
import { usePlaces } from "./reading/places.js";
import { Rail } from "./reading/rail.js";
import { Find, useSearch } from "./reading/search.js";
import { Talk } from "./reading/talk.js";
import { person } from "./reducer.js";
import { Store } from "./store.js";
import { nextTheme } from "./themes.js";
import { html } from "./ui.js";
import { LanguageChoice } from "./languages.js";
import { n, t } from "./words.js";

/** What follows the first screen, in so many parts: the sections, and the discussion. */
const PARTS = 2;

export function Discussion({ base, info, saved = null }) {
  const store = useMemo(() => new Store(base, saved), [base]);
  const [now, setNow] = useState(store.now);
  const folds = useMemo(() => new Folds(), [base]);
  const [help, setHelp] = useState(false);
  const [made, setMade] = useState(false);
  const area = useRef(null);
  useEffect(() => {
    setNow(store.now);
    const ends = [store.subscribe(setNow), () => store.stop()];
    return () => ends.forEach((end) => end());
  }, [store]);
  const { state, derived, connection, gone, away, waiting, unread } = now;
  const role = info.role;
  const chairs = !saved && Boolean(info.leads);
  const mySeat = role === "seat" ? info.seat : "";
  const myTurn = !saved && Boolean(turnOf(state, derived, mySeat) || (chairs && !state.closed && derived && derived.questions.length));
  // What was there when the reader came is no news.
  const here = connection !== "connecting" && connection !== "file";
  useTitle(state, info, myTurn);
  useKeys({ setHelp });
  const loaded = saved || state.seq >= info.last_seq;
  const over = loaded ? Boolean(state.closed) : info.status !== "running";
  // Nobody leads it any more: there is nothing to watch, and something to do.
  const decision = settledOf(derived, state);
  const still = over || Boolean(decision);
  // Whoever opens what is over reads the answer first: nothing else is shown before it is there.
  const opening = over && !derived && !unread;
  // Then what follows it, part by part.
  const drawn = useParts(!opening, PARTS);
  usePlaces(state, derived, drawn === PARTS);
  const search = useSearch(state, derived, folds, loaded && drawn === PARTS);
  const printOut = usePrint(drawn === PARTS);
  const stage = state.stage ? `${state.stage.stage}/${state.stage.round}` : "";
  const follow = useFollow(area, stage, state.speeches, !saved && !still && state.seq > 0);
  const [watching, see] = useWatching(over, follow, area);
  const turns = useTurns(derived, state);
  return html`
    <a class="skip" href="#discussion">${t("Skip to the discussion")}</a>
    <${Bar} base=${base} info=${info} state=${state} saved=${saved} finder=${html`<${Find} search=${search} />`} onPrint=${printOut} onHelp=${() => setHelp(true)} />
    <${Banner} connection=${connection} gone=${gone} away=${away} waiting=${waiting} />
    <main id="main">
      ${still && !watching
        ? html`<${Decision} base=${base} info=${info} state=${state} derived=${derived} chairs=${chairs} onMade=${() => setMade(true)} onGone=${() => store.feed.resume()} />`
        : html`<${Live} info=${info} state=${state} derived=${derived} drafts=${store.drafts} connection=${connection} mySeat=${mySeat} myTurn=${myTurn} area=${area} onMade=${() => setMade(true)} />`}
      ${still && !watching && drawn > 0 && html`<${Rail} sections=${sectionsOf(derived, state, chairs)} rounds=${state.rounds} />`}
      ${decision && !watching && drawn > 0 && html`<${Sections} decision=${decision} state=${state} />`}
      ${!loaded && !opening && html`<p class="wrap on-paper">${t("This was printed before all speeches had come. Print it again.")}</p>`}
      ${drawn > 1 && html`<div class="wrap lead">
        <${Talk} state=${state} derived=${derived} folds=${folds} />
        ${derived && html`<${Standings} derived=${derived} sat=${state.sat} host=${state.host} turns=${turns} />`}
      </div>`}
    </main>
    ${over && !saved && drawn > 1 && html`<${GoingOn} base=${base} info=${info} state=${state} example=${isExample(derived)} refresh=${() => store.feed.resume()} />`}
    <footer class="foot wrap"><p>${saved ? t("Saved {at}", { at: whole(saved.at) }) : ""}</p>${derived && derived.decision && html`<button type="button" class="link" onClick=${() => setMade(true)}>${still ? t("How this was made") : t("How this is made")}</button>`}</footer>
    ${!saved && (!still || watching || (!over && myTurn)) && html`<${Dock} still=${still && !watching} base=${base} info=${info} state=${state} derived=${derived} mySeat=${mySeat} leads=${chairs} follow=${follow} decided=${over} onDecided=${see} />`}
    <${Announcer} state=${state} here=${here} />
    ${made && derived && html`<${Made} derived=${derived} state=${state} turns=${turns} onClose=${() => setMade(false)} />`}
    ${help && html`<${Help} onClose=${() => setHelp(false)} />`}`;
}

function useTitle(state, info, myTurn) {
  const topic = (state.topic || info.topic || "Roundtable").replace(/\s+/g, " ").slice(0, 80);
  const sign = myTurn ? `● ${t("Your turn")} · ` : state.paused ? "❚❚ " : "";
  useEffect(() => {
    document.title = `${sign}${topic} · Roundtable`;
  }, [sign, topic]);
}

/** Prints, once there is something to print. */
function usePrint(ready) {
  const [wanted, want] = useState(false);
  useEffect(() => {
    if (!wanted || !ready) return;
    want(false);
    // What has just come is drawn first.
    requestAnimationFrame(() => requestAnimationFrame(() => print()));
  }, [wanted, ready]);
  return () => want(true);
}

/** A recorded example is nobody's table: nothing can be asked of it. */
function isExample(derived) {
  return Boolean(derived && derived.decision && derived.decision.made.notes.some((note) => note.code === "example"));
}

function useKeys({ setHelp }) {
  useLayoutEffect(() => listenToKeys({
    j: () => step("article.speech > h4 > .line", 1),
    k: () => step("article.speech > h4 > .line", -1),
    "/": () => document.getElementById("find").focus(),
    "?": () => setHelp(true),
    v: () => {
      const decision = document.getElementById("decision");
      if (decision) {
        scrollTo({ top: 0 });
        decision.focus({ preventScroll: true });
      }
    },
    t: () => nextTheme(),
  }), []);
}

function Banner({ connection, gone, away, waiting }) {
  if (gone) {
    return html`<div class="banner bad" role="alert">${gone.status === 401 ? t("This link asks for its password again. Reload the page.") : t("This link is no longer valid. Ask whoever shared it for a new one.")}</div>`;
  }
  if (connection === "lost") {
    return html`<div class="banner" role="status">${t("The connection is lost, and is tried again. Nothing is missed.")}</div>`;
  }
  if (away) {
    return html`<div class="banner" role="status">${t("The database does not answer; what was said is kept. Trying again…")}</div>`;
  }
  if (waiting) {
    return html`<div class="banner" role="status">${t("Waiting for its turn: as many discussions are under way as this machine can carry.")}</div>`;
  }
  return null;
}

/** New speeches in words, for those who listen to the page. */
function Announcer({ state, here }) {
  const [words, set] = useState("");
  const before = useRef(state);
  useEffect(() => {
    const fresh = state.speeches - before.current.speeches;
    const closing = state.closed && !before.current.closed;
    before.current = state;
    if (!here) return;
    if (closing) set(t("The discussion is over."));
    else if (fresh === 1) {
      const newest = state.rounds.flatMap((round) => round.items).filter((item) => item.kind === "speech");
      const last = newest.reduce((one, two) => (one.at > two.at ? one : two));
      set(t("New speech: {name}.", { name: person(state, last.participant).name }));
    } else if (fresh > 1) set(n(fresh, "{n} new speech.", "{n} new speeches."));
  }, [state.speeches, state.closed, here]);
  return html`<div class="sr" aria-live="polite">${words}</div>`;
}

function Help({ onClose }) {
  const keys = [["j", t("next speech")], ["k", t("speech before")], ["v", t("the answer")], ["/", t("find in the discussion")], ["t", t("light, dark, as the system has it")], ["?", t("this help")]];
  return html`<${Dialog} title=${t("Keyboard, language, help")} onClose=${onClose}>
    <dl class="keys">${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <${LanguageChoice} />
  <//>`;
}
