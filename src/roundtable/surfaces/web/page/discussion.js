// One discussion: live while it goes on, and the same when it is long over or a file on a disk.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import { Controls, SpeakBox } from "./controls.js";
import { ago, count, money, plural, short, titled, turnPlace, whole } from "./format.js";
import { listenToKeys, step } from "./keys.js";
import { Brand, callTurns, Dialog, knowPlaces, languageOf, Parts } from "./parts.js";
import { Balance, Camps, Notes, Pictures, Points, Talk, Votes } from "./positions.js";
import { cost, person } from "./reducer.js";
import { Rounds, roundTitle } from "./rounds.js";
import { Store } from "./store.js";
import { Spent, Table } from "./table.js";
import { nextTheme, ThemeButton } from "./themes.js";
import { html } from "./ui.js";
import { Verdict } from "./verdict.js";

const STATUSES = { waiting: "opening", running: "running", concluded: "concluded", stopped: "stopped", failed: "failed" };
const NOTHING = {};

export function Discussion({ base, info, saved = null }) {
  const store = useMemo(() => new Store(base, saved), [base]);
  const [now, setNow] = useState(store.now);
  const [find, setFind] = useState("");
  const [help, setHelp] = useState(false);
  const mount = useRef(() => {});
  useEffect(() => {
    setNow(store.now);
    const ends = [store.subscribe(setNow), () => store.stop()];
    return () => ends.forEach((end) => end());
  }, [store]);
  const { state, derived, connection, gone } = now;
  const role = info.role;
  // Where a recorded example comes from must be known before it is read.
  const recorded = derived && derived.notes.find((note) => note.code === "example");
  const chairs = !saved && role === "host";
  const mySeat = role === "seat" ? info.seat : "";
  const myTurn = Boolean(mySeat && !state.closed && derived && derived.open_turns.some((turn) => turn.participant === mySeat));
  const called = derived && !state.closed ? derived.open_turns.filter((turn) => turn.outside).map((turn) => turn.participant).join(" ") : "";
  // What was there when the reader came is no news.
  const here = connection !== "connecting" && connection !== "file";
  useTitle(state, info, myTurn);
  usePlaces(state, derived, mount);
  useKeys({ setHelp });
  const topic = state.topic || info.topic || "";
  const status = state.seq ? state.status : info.status || "waiting";
  return html`
    <a class="skip" href="#discussion">Skip to the discussion</a>
    <header class="bar">
      <${Brand} href=${chairs ? "/" : ""} />
      <label class="find"><span class="sr">Find in the speeches</span><input type="search" id="find" placeholder="Find in the speeches" value=${find} onInput=${(event) => setFind(event.target.value)} /></label>
      ${!saved && html`<${Exports} base=${base} chairs=${chairs} />`}
      <${ThemeButton} />
      <button type="button" class="quiet icon" aria-label="Keyboard and help" title="Keyboard and help" onClick=${() => setHelp(true)}>?</button>
    </header>
    <${Banner} connection=${connection} gone=${gone} state=${state} />
    <div class="page">
      <${Contents} state=${state} derived=${derived} />
      <main id="main"><div class="lead">
        <header class="opening">
          <p class="facts"><span class=${`status ${state.paused ? "paused" : status}`}>${connection === "live" && status === "running" && !state.paused && html`<i class="live" aria-hidden="true"></i>`}${state.paused ? "paused" : STATUSES[status] || status}</span>
            <span>${titled((state.procedure || info.procedure || "").replace(/^custom:/, ""))}</span>
            ${state.openedAt && html`<time datetime=${state.openedAt} title=${whole(state.openedAt)}>${ago(state.openedAt)}</time>`}
            ${state.extraRounds > 0 && html`<span>${plural(state.extraRounds, "extra round")}</span>`}</p>
          <h1 dir="auto" lang=${languageOf(topic)} class=${topic.length > 160 ? "long" : ""}>${topic}</h1>
          ${state.material.length > 0 && html`<p class="faint small material">With ${state.material.map((each, n) => html`${n ? ", " : ""}<bdi>${each.source}</bdi> (${short(each.characters)} characters)`)}</p>`}
          ${recorded && html`<${Notes} notes=${[recorded]} />`}
        </header>
        <${Table} state=${useTable(state)} progress=${derived ? derived.progress : ""} mySeat=${mySeat} called=${called} />
        ${chairs && state.seq > 0 && html`<${Controls} base=${base} id=${info.discussion_id} state=${state} derived=${derived} links=${info.links || NOTHING} refresh=${() => store.feed.resume()} />`}
        <${Verdict} verdict=${derived ? derived.verdict : null} closed=${state.closed} outcome=${state.outcome} coming=${Boolean(state.verdict)} />
        <section id="discussion" aria-labelledby="discussion-head" tabindex="-1">
          <h2 id="discussion-head">The discussion</h2>
          ${!state.speeches && !Object.keys(state.speaking).length && html`<p class="faint">${state.closed ? "Nobody spoke." : "Nobody has spoken yet. Speeches appear here as they are given."}</p>`}
          <${Rounds} state=${state} drafts=${store.drafts} find=${find} mount=${mount} />
          <${Newest} state=${state} mount=${mount} here=${here} />
        </section>
        ${mySeat && html`<${SpeakBox} base=${base} state=${state} derived=${derived} seat=${mySeat} />`}
      </div>
        ${derived && html`<div class="findings"><${Findings} derived=${derived} state=${state} /></div>`}
      </main>
      <aside aria-label="At a glance">
        <${Glance} state=${state} derived=${derived} />
      </aside>
    </div>
    <footer class="foot"><p>${info.discussion_id || ""} · <bdi>roundtable ${state.version}</bdi>${saved ? ` · saved ${whole(saved.at)}` : ""}</p></footer>
    <${Announcer} state=${state} here=${here} />
    ${help && html`<${Help} onClose=${() => setHelp(false)} />`}`;
}

/** The table is drawn again only when something at it changed, not with every word. */
function useTable(state) {
  const last = useRef(state);
  const names = ["host", "seats", "sat", "stage", "speaking", "closed", "paused", "rounds", "speeches"];
  if (names.some((name) => last.current[name] !== state[name])) last.current = state;
  return last.current;
}

function useTitle(state, info, myTurn) {
  const topic = (state.topic || info.topic || "Roundtable").replace(/\s+/g, " ").slice(0, 80);
  const sign = myTurn ? "● Your turn · " : state.paused ? "❚❚ " : "";
  useEffect(() => {
    document.title = `${sign}${topic} · Roundtable`;
  }, [sign, topic]);
}

/** Links within the page: what is not in it yet is put there before it is jumped to. */
function usePlaces(state, derived, mount) {
  const latest = useRef({});
  latest.current = { state, derived };
  // Before anything below is drawn: what is memoised is not drawn again for a name.
  callTurns((turn) => {
    const [round, , who] = turn.split("/");
    const { name } = person(latest.current.state, who);
    return round === "0" ? name : `${name}, round ${round}`;
  });
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
        target.scrollIntoView({ block: "start" });
        target.focus({ preventScroll: true });
        target.classList.add("aimed");
        setTimeout(() => target.classList.remove("aimed"), 1600);
      }));
    };
    const clicked = (event) => {
      const link = event.target.closest && event.target.closest('a[href^="#"]');
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const place = decodeURIComponent(link.getAttribute("href").slice(1));
      history.replaceState(null, "", link.getAttribute("href"));
      jump(place);
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

function useKeys({ setHelp }) {
  useEffect(() => listenToKeys({
    j: () => step("article.speech:not(.draft)", 1),
    k: () => step("article.speech:not(.draft)", -1),
    "/": () => document.getElementById("find").focus(),
    "?": () => setHelp(true),
    v: () => {
      const verdict = document.getElementById("verdict");
      if (verdict) {
        verdict.scrollIntoView({ block: "start" });
        verdict.focus({ preventScroll: true });
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

function Contents({ state, derived }) {
  const items = [];
  if ((derived && derived.verdict) || (state.closed && state.closed.status !== "concluded")) items.push(["verdict", "Verdict"]);
  items.push(["discussion", "Discussion"]);
  const after = [];
  if (derived) {
    if (derived.points.length) after.push(["points", "Points"]);
    if (derived.pictures.length) after.push(["pictures", "Pictures"]);
    if (derived.ballots.length || derived.scores.length) after.push(["votes", derived.ballots.length ? "Who holds what" : "Scores"]);
    if (derived.changes.length || derived.talk.voters || (derived.verdict && derived.verdict.changed_minds)) after.push(["talk", "What talk changed"]);
    if (derived.notes.length) after.push(["notes", "Notes"]);
    if (derived.costs.length) after.push(["costs", "Costs"]);
  }
  const newest = state.rounds.length ? state.rounds[state.rounds.length - 1].place : -1;
  const link = ([id, title]) => html`<li><a href=${`#${id}`}>${title}</a></li>`;
  return html`<nav class="contents" aria-label="Contents">
    <ul>${items.map(link)}</ul>
    ${state.rounds.length > 0 && html`<ol class="timeline" aria-label="Rounds">${state.rounds.map((round) => html`<li class=${round.place === newest && !state.closed ? "now" : ""}>
      <a href=${`#round-${round.place}`} title=${`${roundTitle(round.place)}: ${plural(round.items.filter((item) => item.kind === "speech").length, "speech", "speeches")}`}>${round.place ? html`<span class="sr">Round </span>${round.place}` : "Opening"}</a></li>`)}</ol>`}
    <ul>${after.map(link)}</ul>
  </nav>`;
}

function Glance({ state, derived }) {
  const words = money(state.usage.priced_usd);
  const total = cost(state.usage);
  return html`
    <section aria-labelledby="spent-head"><h2 id="spent-head">Spent</h2>
      <${Spent} usage=${state.usage} words=${words} cost=${total === null ? `${words}+` : words} />
      <${Limits} budget=${state.budget} usage=${state.usage} />
    </section>
    ${derived && derived.points.length > 0 && html`<section aria-labelledby="stand-head"><h2 id="stand-head">Where they stand</h2>
      <${Balance} points=${derived.points} />
      <${Course} rounds=${derived.convergence} />
      <p class="small"><a href="#points">All ${plural(derived.points.length, "point")}</a></p>
    </section>`}
    ${derived && derived.notes.length > 0 && html`<section aria-labelledby="glance-notes"><h2 id="glance-notes">Good to know</h2>
      <p class="small"><a href="#notes">${plural(derived.notes.length, "note")}</a></p></section>`}`;
}

/** Agreement of the last rounds, in figures. */
function Course({ rounds }) {
  const known = rounds.filter((round) => round.agreement !== null).slice(-6);
  if (!known.length) return null;
  return html`<ol class="course" aria-label="Agreement by round">${known.map((round) => html`<li><span class="faint">Round ${round.round}</span>
    <meter min="0" max="1" value=${round.agreement} aria-label=${`Agreement in round ${round.round}`}></meter><span>${Math.round(round.agreement * 100)}%</span></li>`)}</ol>`;
}

function Limits({ budget, usage }) {
  const rows = [];
  if (budget.max_calls) rows.push(["calls", usage.calls, budget.max_calls, count]);
  if (budget.max_tokens) rows.push(["tokens", usage.input_tokens + usage.output_tokens, budget.max_tokens, short]);
  if (budget.max_cost_usd) rows.push(["cost", usage.priced_usd, budget.max_cost_usd, money]);
  if (!rows.length) return null;
  return html`<ul class="limits">${rows.map(([name, used, most, say]) => html`<li><span class="faint">of ${say(most)} ${name === "cost" ? "" : name}</span>
    <meter min="0" max=${most} high=${most * 0.8} value=${Math.min(used, most)} aria-label=${`Budget used: ${name}`}></meter></li>`)}</ul>`;
}

function Findings({ derived, state }) {
  // The turns that had an outcome when this was derived: what is newer is not named in it.
  const turns = useMemo(() => Object.fromEntries(state.rounds.flatMap((round) => round.items.map((item) => [item.id, true]))), [derived.changes, derived.costs, derived.ballots]);
  const rest = derived || NOTHING;
  return html`
    ${rest.points.length > 0 && html`<section id="points" aria-labelledby="points-head">
      <h2 id="points-head">Points and stances</h2>
      <${Camps} camps=${rest.camps} bridges=${rest.bridges} sat=${state.sat} host=${state.host} />
      <${Points} points=${rest.points} sat=${state.sat} host=${state.host} />
    </section>`}
    ${rest.pictures.length > 0 && html`<section id="pictures" aria-labelledby="pictures-head"><h2 id="pictures-head">Opinion map, agreement, convergence</h2><${Pictures} pictures=${rest.pictures} /></section>`}
    <${Votes} ballots=${rest.ballots} scores=${rest.scores} turns=${turns} />
    <${Talk} derived=${rest} turns=${turns} />
    ${rest.notes.length > 0 && html`<section id="notes" aria-labelledby="notes-head"><h2 id="notes-head">Notes</h2><${Notes} notes=${rest.notes} /></section>`}
    ${rest.costs.length > 0 && html`<section id="costs" aria-labelledby="costs-head"><h2 id="costs-head">Calls and costs</h2><${Parts} parts=${rest.costs} turns=${turns} /></section>`}`;
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

function Exports({ base, chairs }) {
  const place = useRef(null);
  useEffect(() => {
    const outside = (event) => {
      if (place.current.open && !place.current.contains(event.target)) place.current.open = false;
    };
    const escaped = (event) => {
      if (event.key === "Escape" && place.current.open) {
        place.current.open = false;
        place.current.querySelector("summary").focus();
      }
    };
    document.addEventListener("click", outside);
    document.addEventListener("keydown", escaped);
    return () => {
      document.removeEventListener("click", outside);
      document.removeEventListener("keydown", escaped);
    };
  }, []);
  const forms = [
    ["export.page", "This page", "one HTML file that works from disk"],
    ["export.html", "Report, HTML", "to print, to send; no script in it"],
    ["export.md", "Report, Markdown", "to read and paste"],
    ["export.json", "JSON", "for programs"],
    ...(chairs ? [["bundle", "Verified bundle", "every event and prompt, hash-chained"]] : []),
  ];
  return html`<details class="menu" ref=${place}><summary>Export</summary>
    <ul>${forms.map(([path, name, what]) => html`<li><a href=${`${base}/${path}`} download><strong>${name}</strong><span class="faint small">${what}</span></a></li>`)}
      <li><button type="button" class="quiet" onClick=${() => print()}><strong>Print</strong><span class="faint small">or save as PDF</span></button></li></ul>
  </details>`;
}

function Help({ onClose }) {
  const keys = [["j", "next speech"], ["k", "speech before"], ["v", "the verdict"], ["/", "find in the speeches"], ["t", "light, dark, system"], ["?", "this help"]];
  return html`<${Dialog} title="Keyboard" onClose=${onClose}>
    <dl class="keys">${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <h3>Marks</h3>
    <dl class="keys"><div><dt><span class="verified">“…”</span><span class="proof">✓</span></dt><dd>a quotation found word for word in a speech</dd></div>
      <div><dt><bdi class="badge">repaired</bdi></dt><dd>the speaker was asked again, because its first answer did not keep to its form</dd></div>
      <div><dt><bdi class="badge">in place of …</bdi></dt><dd>another model spoke than the one that was seated</dd></div></dl>
  <//>`;
}
