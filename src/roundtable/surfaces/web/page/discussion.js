// One discussion: live while it goes on, and the same when it is long over or a file on a disk.
import { useEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import { Bar } from "./bar.js";
import { Made } from "./decision/made.js";
import { Decision, Sections, sectionsOf, settledOf } from "./decision/page.js";
import { Standings, useTurns } from "./decision/standings.js";
import { ago, plural, short, titled, whole } from "./format.js";
import { GoingOn } from "./going-on.js";
import { listenToKeys, step } from "./keys.js";
import { Dock, Live } from "./live/page.js";
import { Dialog, languageOf } from "./parts.js";
import { usePlaces } from "./reading/places.js";
import { Rail } from "./reading/rail.js";
import { Talk } from "./reading/talk.js";
import { person } from "./reducer.js";
import { Store } from "./store.js";
import { nextTheme } from "./themes.js";
import { html } from "./ui.js";
import { LanguageChoice } from "./languages.js";
import { t } from "./words.js";

const STATUSES = { waiting: "opening", running: "running", concluded: "concluded", stopped: "stopped", failed: "failed" };

export function Discussion({ base, info, saved = null }) {
  const store = useMemo(() => new Store(base, saved), [base]);
  const [now, setNow] = useState(store.now);
  const [find, setFind] = useState("");
  const [help, setHelp] = useState(false);
  const [made, setMade] = useState(false);
  const mount = useRef(() => {});
  useEffect(() => {
    setNow(store.now);
    const ends = [store.subscribe(setNow), () => store.stop()];
    return () => ends.forEach((end) => end());
  }, [store]);
  const { state, derived, connection, gone } = now;
  const role = info.role;
  const chairs = !saved && Boolean(info.leads);
  const mySeat = role === "seat" ? info.seat : "";
  const myTurn = Boolean(mySeat && !state.closed && derived && derived.open_turns.some((turn) => turn.participant === mySeat));
  // What was there when the reader came is no news.
  const here = connection !== "connecting" && connection !== "file";
  useTitle(state, info, myTurn);
  usePlaces(state, derived, mount);
  useKeys({ setHelp });
  const topic = state.topic || info.topic || "";
  const status = state.seq ? state.status : info.status || "waiting";
  const over = Boolean(state.closed);
  // Nobody leads it any more: there is nothing to watch, and something to do.
  const decision = settledOf(derived, state);
  const still = over || Boolean(decision);
  const turns = useTurns(derived, state);
  return html`
    <a class="skip" href="#discussion">Skip to the discussion</a>
    <${Bar} base=${base} info=${info} state=${state} saved=${saved} find=${find} setFind=${setFind} onHelp=${() => setHelp(true)} />
    <${Banner} connection=${connection} gone=${gone} state=${state} />
    <main id="main">
      ${still
        ? html`<${Decision} base=${base} state=${state} derived=${derived} chairs=${chairs} onMade=${() => setMade(true)} />`
        : html`<header class="wrap opening">
          <p class="facts"><span class=${`status ${state.paused ? "paused" : status}`}>${connection === "live" && status === "running" && !state.paused && html`<i class="live" aria-hidden="true"></i>`}${state.paused ? "paused" : STATUSES[status] || status}</span>
            <span>${titled((state.procedure || info.procedure || "").replace(/^custom:/, ""))}</span>
            ${state.openedAt && html`<time datetime=${state.openedAt} title=${whole(state.openedAt)}>${ago(state.openedAt)}</time>`}
            ${state.extraRounds > 0 && html`<span>${plural(state.extraRounds, "extra round")}</span>`}
            ${derived && derived.decision && html`<button type="button" class="link how" onClick=${() => setMade(true)}>${t("How this is made")}</button>`}</p>
          <h1 dir="auto" lang=${languageOf(topic)} class=${topic.length > 160 ? "long" : ""}>${topic}</h1>
          ${state.material.length > 0 && html`<p class="faint small material">With ${state.material.map((each, n) => html`${n ? ", " : ""}<bdi>${each.source}</bdi> (${short(each.characters)} characters)`)}</p>`}
        </header>`}
      ${still && html`<${Rail} sections=${sectionsOf(derived, state, over && chairs)} />`}
      ${decision && html`<${Sections} decision=${decision} state=${state} />`}
      <div class="wrap lead">
        ${!still && html`<${Live} base=${base} info=${info} state=${state} derived=${derived} mySeat=${mySeat} chairs=${chairs} refresh=${() => store.feed.resume()} />`}
        <${Talk} state=${state} drafts=${store.drafts} find=${find} mount=${mount} here=${here} />
        ${derived && html`<${Standings} derived=${derived} sat=${state.sat} host=${state.host} turns=${turns} />`}
        <${Dock} base=${base} state=${state} derived=${derived} mySeat=${mySeat} />
      </div>
    </main>
    ${over && !saved && html`<${GoingOn} base=${base} info=${info} state=${state} refresh=${() => store.feed.resume()} />`}
    <footer class="foot wrap"><p>${saved ? t("Saved {at}", { at: whole(saved.at) }) : ""}</p>${derived && derived.decision && html`<button type="button" class="link" onClick=${() => setMade(true)}>${t("How this was made")}</button>`}</footer>
    <${Announcer} state=${state} here=${here} />
    ${made && derived && html`<${Made} derived=${derived} state=${state} turns=${turns} onClose=${() => setMade(false)} />`}
    ${help && html`<${Help} onClose=${() => setHelp(false)} />`}`;
}

function useTitle(state, info, myTurn) {
  const topic = (state.topic || info.topic || "Roundtable").replace(/\s+/g, " ").slice(0, 80);
  const sign = myTurn ? "● Your turn · " : state.paused ? "❚❚ " : "";
  useEffect(() => {
    document.title = `${sign}${topic} · Roundtable`;
  }, [sign, topic]);
}

function useKeys({ setHelp }) {
  useEffect(() => listenToKeys({
    j: () => step("article.speech:not(.draft)", 1),
    k: () => step("article.speech:not(.draft)", -1),
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

function Banner({ connection, gone, state }) {
  if (gone) {
    return html`<div class="banner bad" role="alert">${gone.status === 401 ? "This link asks for its password again. Reload the page." : "This link is no longer valid. Ask whoever shared it for a new one."}</div>`;
  }
  if (connection === "lost") {
    return html`<div class="banner" role="status">The connection is lost. Trying again… Nothing is missed: it goes on from event ${state.seq}.</div>`;
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
    if (closing) set("The discussion is closed.");
    else if (fresh === 1) {
      const newest = state.rounds.flatMap((round) => round.items).filter((item) => item.kind === "speech");
      const last = newest.reduce((one, two) => (one.at > two.at ? one : two));
      set(`${person(state, last.participant).name} has spoken.`);
    } else if (fresh > 1) set(`${fresh} new speeches.`);
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
