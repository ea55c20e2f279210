// Watching, leading and taking part while it goes on.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { money, short } from "../format.js";
import { useCut } from "../frames.js";
import { Icon } from "../icons.js";
import { Failure, languageOf } from "../parts.js";
import { cost, knownCost, person } from "../reducer.js";
import { useSending } from "../sending.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { Voices, voices } from "./columns.js";
import { HostControls } from "./host.js";
import { Navigator } from "./navigator.js";
import { Questions, turnOf, YourTurn } from "./turn.js";
import { elapsedWords, leftOver, nowSentence, stepWords, usually } from "./words.js";

const NARROW = "(max-width: 46rem)";
const NONE = [];
const TICK = 5000;

/** Whether the window is too narrow for columns. */
function useNarrow() {
  const media = useMemo(() => matchMedia(NARROW), []);
  const [narrow, set] = useState(media.matches);
  useEffect(() => {
    const changed = () => set(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  return narrow;
}

/** Seconds since it was opened, now and then. */
function useElapsed(state) {
  const since = () => (state.openedAt ? Math.max(0, ((state.closed ? new Date(state.closed.at) : Date.now()) - new Date(state.openedAt)) / 1000) : 0);
  const [seconds, set] = useState(since);
  useEffect(() => {
    set(since());
    const timer = setInterval(() => set(since()), TICK);
    return () => clearInterval(timer);
  }, [state.openedAt, Boolean(state.closed)]);
  return seconds;
}

/** The stage that is shown: the newest, or that of the seats while the host does small things. */
function shownStage(state, derived) {
  const kind = derived && derived.itinerary.now ? derived.itinerary.now.kind : "";
  const hosts = state.stage && !state.stage.seats.some((id) => state.sat[id]);
  if (hosts && state.seatsStage && !["answer", "check", "summary", "brief"].includes(kind)) return state.seatsStage;
  return state.stage;
}

/** They speak side by side if more than one spoke or is called at once; it stays so for the stage. */
function useTogether(stage, derived) {
  const known = useRef({});
  if (!stage) return false;
  const key = `${stage.stage}/${stage.round}`;
  const open = derived ? derived.open_turns.filter((turn) => stage.turns.includes(turn.turn_id)).length : 0;
  known.current[key] = known.current[key] || stage.together || open > 1;
  return known.current[key];
}

/** The first screen of a discussion that goes on. `area` is where its words are. */
export function Live({ info, state, derived, drafts, connection, mySeat, myTurn, area, onMade }) {
  const narrow = useNarrow();
  const stage = shownStage(state, derived);
  const together = useTogether(stage, derived);
  const called = derived && !state.closed && !state.paused ? derived.open_turns.filter((turn) => turn.outside).map((turn) => turn.participant) : NONE;
  const named = useMemo(() => ({ ...state.options, ...(derived ? derived.named : {}) }), [state.options, derived && derived.named]);
  const doing = {};
  if (stage) for (const each of voices(state, stage, called)) doing[each.who.id] = each.doing;
  for (const id of called) if (!doing[id]) doing[id] = "called";
  return html`<section class="wrap live" aria-label=${t("What happens now")}>
    <div class="live-top">
      <div>
        <${Top} info=${info} state=${state} derived=${derived} connection=${connection} myTurn=${myTurn} onMade=${onMade} />
        <${Steps} state=${state} derived=${derived} stage=${stage} called=${called} doing=${doing} />
      </div>
      ${state.host && html`<${Navigator} state=${state} derived=${derived} doing=${doing} round=${state.seatsStage ? state.seatsStage.round : 0} />`}
    </div>
    <div class="voices" ref=${area}>
      <h2 class="sr">${t("Being said now")}</h2>
      ${stage && html`<${Voices} state=${state} stage=${stage} together=${together} called=${called} drafts=${drafts} named=${named} narrow=${narrow} mySeat=${mySeat} />`}
    </div>
  </section>`;
}

function pill(state, myTurn, connection) {
  if (state.closed) return ["chip", t("Over")];
  if (myTurn) return ["chip your-turn", t("Your turn")];
  if (state.paused) return ["chip warn", t("Paused")];
  if (connection === "lost") return ["chip warn", t("No connection")];
  return ["chip is-live", t("Live")];
}

/** How it stands, what was asked in two lines, and what it costs. */
function Top({ info, state, derived, connection, myTurn, onMade }) {
  const [open, setOpen] = useState(false);
  const place = useRef(null);
  const question = derived && derived.decision && derived.decision.question.whole ? derived.decision.question : { short: state.topic || info.topic || "", whole: state.topic || info.topic || "", cut: false };
  const cut = useCut(place, question.short);
  const elapsed = useElapsed(state);
  const usual = derived && derived.usual_seconds;
  const more = question.cut || cut || state.material.length > 0;
  const [kind, told] = pill(state, myTurn, connection);
  const spent = cost(state.usage);
  return html`
    <div class="meta">
      <span class=${kind} role="status">${told}</span>
      ${state.openedAt && html`<span>${elapsedWords(elapsed)}</span>`}
      ${usual >= 20 && html`<span class="usual">${usually(usual)}</span>`}
      ${state.usage.calls > 0 && spent !== 0 && html`<span class="num">${spent === null ? (knownCost(state.usage) ? t("at least {cost} so far", { cost: money(knownCost(state.usage)) }) : t("cost unknown")) : t("{cost} so far", { cost: money(spent) })}</span>`}
      ${state.extraRounds > 0 && html`<span>${n(state.extraRounds, "{n} extra round", "{n} extra rounds")}</span>`}
      ${more && html`<button type="button" class="link wq" aria-expanded=${open} aria-controls="whole-question" onClick=${() => setOpen(!open)}>${t("Whole question")}</button>`}
      ${derived && html`<button type="button" class="link how" onClick=${onMade}>${t("How this is made")}</button>`}
    </div>
    <h1 class="q" ref=${place} dir="auto" lang=${languageOf(question.short)}>${question.short}</h1>
    ${more && html`<div class="whole" id="whole-question" hidden=${!open}><p dir="auto" lang=${languageOf(question.whole)}>${question.whole}</p>
      ${state.material.length > 0 && html`<p class="soft s">${t("With:")} ${state.material.map((each, at) => html`${at ? ", " : ""}<bdi>${each.source}</bdi> (${t("{n} characters", { n: short(each.characters) })})`)}</p>`}</div>`}`;
}

/** What happens now in a sentence, and what is still to come. */
function Steps({ state, derived, stage, called, doing }) {
  const plan = derived ? derived.itinerary : null;
  const steps = plan ? plan.steps : NONE;
  const states = Object.values(doing);
  const busy = states.filter((each) => each === "thinking" || each === "writing").length;
  const done = states.filter((each) => each === "spoke" || each === "absent").length;
  const waited = called.map((id) => person(state, id).name);
  let who = "";
  if (state.closed) who = "";
  else if (state.paused) who = state.paused.reason ? t("Paused by {by}: {reason}", state.paused) : t("Paused by {by}", state.paused);
  else if (busy) who = t("{n} of {all} still writing", { n: busy, all: Math.max(states.length, busy) });
  else if (waited.length) who = t("Waiting for {who}", { who: waited.join(", ") });
  const sentence = nowSentence(plan);
  const next = steps.filter((each) => each.state === "next");
  // Of many rounds only those around the present one.
  const here = steps.findIndex((each) => each.state === "now");
  const shown = steps.length > 6 ? [...steps.slice(Math.max(0, here - 1), Math.max(0, here - 1) + 3), steps[steps.length - 1]].filter((each, at, all) => all.indexOf(each) === at) : steps;
  const part = states.length ? done / states.length : 0;
  return html`<p class="now-line"><b>${sentence}</b> ${who && html`<span>${who}</span>`}
      ${next.length > 0 && html`<br /><span class="soft coming">${t("Next: {what}", { what: next.slice(0, 3).map((each) => stepWords(each)[0]).join(", ") })}</span>`}</p>
    ${shown.length > 1 && html`<ol class="itinerary" style=${{ "--now": `${Math.round(part * 100)}%` }} aria-label=${t("What is done and what comes")}>${shown.map((each) => {
      const [title, about] = stepWords(each);
      return html`<li class=${each.state} aria-current=${each.state === "now" ? "step" : undefined}><b>${title}</b><span>${about}</span></li>`;
    })}</ol>`}`;
}

/** What stays at hand below everything: following, one's own turn, leading. */
export function Dock({ base, info, state, derived, mySeat, leads, follow, decided, onDecided, still = false }) {
  const [said, setSaid] = useState("");
  const [told, setTold] = useState(NONE);
  const [speaking, setSpeaking] = useState("");
  // Known by a class: were it asked for by `:has`, each new word would style the whole page anew.
  useLayoutEffect(() => {
    document.documentElement.classList.add("docked");
    return () => document.documentElement.classList.remove("docked");
  }, []);
  const elapsed = useElapsed(state);
  const links = info.links || {};
  const seatBase = (seat) => (seat === mySeat ? base : links[seat] ? `/api${new URL(links[seat], location.href).pathname}` : "");
  const outside = derived && !state.closed && !state.paused ? derived.open_turns.filter((turn) => turn.outside && turn.participant !== mySeat && links[turn.participant]) : NONE;
  const own = turnOf(state, derived, mySeat);
  const due = own && own.turn_id !== said ? own : null;
  const other = leads && speaking ? outside.find((turn) => turn.participant === speaking && turn.turn_id !== said) : null;
  const turn = due || other;
  const questions = leads && derived && !state.closed ? derived.questions : NONE;
  const heard = (id, answer) => {
    setSaid(id);
    setTold(answer);
    setSpeaking("");
  };
  const left = derived ? leftOver(derived.usual_seconds, elapsed) : "";
  return html`<div class="dock" role="region" aria-label=${t("Controls")}>
    ${questions.length > 0 && html`<${Questions} key=${questions.map((each) => each.ask).join()} base=${base} questions=${questions} />`}
    ${turn && html`<${YourTurn} key=${turn.turn_id} base=${seatBase(turn.participant)} state=${state} turn=${turn} own=${turn === due} onSaid=${heard} onClose=${turn === due ? null : () => setSpeaking("")} />`}
    ${!turn && told.length > 0 && html`<div class="wrap"><ul class="told s" role="status">${told.map((each) => html`<li dir="auto">${each}</li>`)}</ul></div>`}
    ${!still && html`<div class="wrap dock-line">
      ${decided
        ? html`<button type="button" class="main follow" onClick=${onDecided}>${t("Decided: see the answer")}</button>`
        : !state.closed && html`<${Follow} ...${follow} />`}
      <span class="soft s left">${mySeat && !due && !state.closed ? t("You have a seat here, and are called when it is your turn.") : left}</span>
      ${mySeat && derived && derived.may.lead && !state.closed && html`<${EndVote} base=${base} state=${state} seat=${mySeat} />`}
      ${leads && !state.closed && state.seq > 0 && html`<${HostControls} base=${base} state=${state} derived=${derived} speakers=${speaking ? NONE : outside} onSpeak=${setSpeaking} />`}
    </div>`}
  </div>`;
}

function Follow({ following, behind, toggle }) {
  const label = following ? t("Following") : behind > 0 ? n(behind, "{n} new, jump", "{n} new, jump") : t("Follow");
  return html`<button type="button" class=${following || behind > 0 ? "main follow" : "follow"} aria-pressed=${following} onClick=${toggle}><${Icon} name="down" />${label}</button>`;
}

/** A seat may vote to end where the procedure has such votes. */
function EndVote({ base, state, seat }) {
  const { busy, error, send } = useSending();
  const vote = (in_favour) => send(() => post(`${base}/vote`, { in_favour }));
  return html`${state.votes[seat]
    ? html`<button type="button" class="quiet" disabled=${busy} onClick=${() => vote(false)}>${t("Take back your vote to end")}</button>`
    : html`<button type="button" class="quiet" disabled=${busy} onClick=${() => vote(true)}>${t("Vote to end the discussion")}</button>`}<${Failure} error=${error} />`;
}
