// The first screen of a decision: how it stands, the question, the answer, the votes with the one
// confidence, and what must be known of it.
import { useRef, useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { bare, day, forPeople, lasted, plainly, short, whole } from "../format.js";
import { useCut, usePrinting } from "../frames.js";
import { Icon } from "../icons.js";
import { directionOf, Failure, languageOf } from "../parts.js";
import { askAgain } from "../going-on.js";
import { useSending } from "../sending.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { Confidence } from "./confidence.js";
import { MoreVotes, Vote } from "./votes.js";

const PILLS = { decided: "chip", values: "chip plain", demonstration: "chip plain", failed: "chip bad", stopped: "chip bad", none: "chip plain" };
/** Votes that the band has room for, and flags that stand below it. */
const IN_BAND = 2;
const FLAGS = 2;
/** What the program says of an expert who holds in the end what it held at first. */
export const THE_SAME = "The same.";
/** Characters from which an answer is set smaller. */
const LONG = 90;
const LONGER = 170;

export function First({ decision, state, base, chairs, owns, example, onMade, onGone }) {
  const { kind, answer, cause, votes, confidence } = decision;
  const told = bare(answer.first) || (cause ? cause.text : "");
  const headline = plainly(kind, told);
  // A failure has no bar: there is nothing that was voted on.
  const counted = !["failed", "stopped", "interrupted", "none"].includes(kind) || votes.some((vote) => vote.settled);
  const weighed = votes.length > 0 && counted;
  return html`<section class=${`wrap first ${kind}`} id="decision" aria-label=${t("The decision")} tabindex="-1">
    <${Question} decision=${decision} state=${state} example=${example} onMade=${onMade} />
    <p class=${`answer ${size(headline)}`} dir=${directionOf(headline)} lang=${languageOf(headline)}><bdi>${headline}</bdi>${answer.second && html` <span><bdi>${bare(answer.second)}</bdi></span>`}</p>
    ${cause && kind !== "interrupted" && html`<${Told} text=${headline === told ? cause.more : `${cause.text} ${cause.more}`} /><${Told} text=${forPeople(cause.remedy)} />`}
    ${kind === "interrupted" && html`<${GoOn} base=${base} chairs=${chairs} />`}
    ${owns && kind === "failed" && !example && html`<p class="acts"><button type="button" class="main" onClick=${() => askAgain(state.topic, state.procedure)}>${t("Ask again")}</button></p>`}
    ${weighed && html`<div class="band">
      ${votes.slice(0, IN_BAND).map((vote) => html`<${Vote} key=${vote.id} vote=${vote} />`)}
      ${(votes.length > 0 || confidence.word !== "none" || confidence.reason) && html`<${Confidence} confidence=${confidence} />`}
    </div>`}
    ${kind === "values" && !weighed && html`<${Values} decision=${decision} />`}
    ${weighed && html`<${MoreVotes} number=${votes.length - IN_BAND} />`}
    ${owns && base && !example && state.spent && state.closed && state.closed.stop_reason === "budget" && html`<${GoHigher} key=${state.spent.limit} base=${base} spent=${state.spent} closed=${state.closed} budget=${state.budget} onGone=${onGone} />`}
    <${Flags} flags=${decision.flags} />
    ${state.outcome && html`<p class="outcome"><b>${t("It turned out {outcome}.", { outcome: t(state.outcome.outcome) })}</b> <bdi>${state.outcome.note}</bdi></p>`}
  </section>`;
}

/** What is told of a failure below its headline. */
function Told({ text }) {
  const words = (text || "").trim();
  return words && html`<p class="remedied" dir=${directionOf(words)} lang=${languageOf(words)}><bdi>${words}</bdi></p>`;
}

function size(text) {
  // A letter of these scripts takes the room of two.
  const length = text.length * (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text) ? 1.8 : 1);
  return length > LONGER ? "longer" : length > LONG ? "long" : "";
}

/** How it stands, and what was asked: at most two lines, the whole on demand. */
function Question({ decision, state, example, onMade }) {
  const [open, setOpen] = useState(false);
  const place = useRef(null);
  const { question, facts, kind } = decision;
  const cut = useCut(place, question.short);
  const more = question.cut || cut || state.material.length > 0;
  const absent = decision.votes.length ? decision.votes[0].counts.absent : 0;
  return html`
    <div class="meta">
      <span class=${PILLS[kind] || "chip warn"}>${t(decision.state)}</span>
      ${example && html`<span class="chip plain" title=${example.text}>${t("Example")}</span>`}
      <bdi>${absent ? t("{n} of {all} experts", { n: facts.seats - absent, all: facts.seats }) : n(facts.seats, "{n} expert", "{n} experts")}${facts.rounds > 0 && `, ${n(facts.rounds, "{n} round", "{n} rounds")}`}</bdi>
      ${facts.opened_at && html`<bdi class="when"><time datetime=${facts.opened_at} title=${whole(facts.opened_at)}>${day(facts.opened_at)}</time>${facts.seconds !== null && `, ${lasted(facts.seconds)}`}</bdi>`}
      ${more && html`<button type="button" class="link wq" aria-expanded=${open} aria-controls="whole-question" onClick=${() => setOpen(!open)}>${t("Whole question")}</button>`}
      <button type="button" class="link how" onClick=${onMade}>${t("How this was made")}</button>
    </div>
    <h1 class="q" ref=${place} dir=${directionOf(question.short)} lang=${languageOf(question.short)}><bdi>${question.short}</bdi></h1>
    ${more && html`<div class="whole" id="whole-question" hidden=${!open}><p dir="auto" lang=${languageOf(question.whole)}>${question.whole}</p>
      ${state.material.length > 0 && html`<p class="soft s">${t("With:")} ${state.material.map((each, at) => html`${at ? ", " : ""}<bdi>${each.source}</bdi> (${t("{n} characters", { n: short(each.characters) })})`)}</p>`}</div>`}`;
}

/** Nothing is put to the vote where it turns on what one values: the positions side by side. */
function Values({ decision }) {
  const held = new Map();
  for (const each of decision.experts) {
    const position = each.final && each.final !== THE_SAME ? each.final : each.opening;
    if (position) held.set(position, [...(held.get(position) || []), each.name]);
  }
  const positions = [...held].slice(0, 3);
  if (!positions.length) return null;
  return html`<div class="band values">${positions.map(([position, names]) => html`<div><p class="vote-h"><b><bdi>${names.join(", ")}</bdi></b></p>
    <p class="position"><bdi>${position}</bdi></p></div>`)}</div>`;
}

function GoOn({ base, chairs }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  if (!base || !chairs) {
    return html`<p class="soft s">${t("What was said is kept. Whoever leads the discussion can go on with it.")}</p>`;
  }
  const go = async () => {
    setBusy(true);
    setError(null);
    try {
      await post(`${base}/resume`);
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return html`<p class="acts"><button type="button" class="main" disabled=${busy} onClick=${go}>${t("Go on")}</button></p><${Failure} error=${error} />`;
}

/** By the limit that ended it: what it is called, what is sent, and in what it is counted. */
const LIMITS = {
  cost: { field: "max_cost_usd", sent: "max_cost", step: "any", label: () => t("At most, in US dollars") },
  calls: { field: "max_calls", sent: "max_calls", step: "1", label: () => t("At most, in calls") },
  tokens: { field: "max_tokens", sent: "max_tokens", step: "1", label: () => t("At most, in tokens") },
  time: { field: "max_seconds", sent: "max_time", step: "any", label: () => t("At most, in seconds") },
};

/** The amount in the command that lets it go on: it is enough for the rest. */
const advised = (closed) => (/ --max-(?:cost|calls|tokens|time) (\d[\d.]*)/.exec((closed && closed.remedy) || "") || [])[1];

/** Ended for want of budget: whoever pays for it can let it go on from there. */
function GoHigher({ base, spent, closed, budget, onGone }) {
  const limit = LIMITS[spent.limit];
  const before = limit ? Number(budget[limit.field]) || 0 : 0;
  const [value, set] = useState(advised(closed) || (before ? String(before * 2) : ""));
  const { busy, error, send } = useSending();
  if (!limit) return null;
  const ready = Number(value) > before;
  const submit = async (event) => {
    event.preventDefault();
    if (ready && (await send(() => post(`${base}/resume`, { [limit.sent]: Number(value) })))) onGone();
  };
  return html`<form class="acts higher" onSubmit=${submit}><label>${limit.label()} <input type="number" min="0" step=${limit.step} value=${value} onInput=${(event) => set(event.target.value)} /></label>
    <button type="submit" class="main" disabled=${busy || !ready}>${t("Go on with a higher limit")}</button><span class="soft s">${t("Nothing that was said is lost.")}</span></form><${Failure} error=${error} />`;
}

function Flags({ flags }) {
  const [opened, setAll] = useState(false);
  const all = usePrinting() || opened;
  if (!flags.length) return null;
  const shown = all ? flags : flags.slice(0, FLAGS);
  const left = flags.length - shown.length;
  return html`<ul class="flags" aria-label=${t("Good to know")}>${shown.map((flag) => html`<li class=${flag.code === "example" ? "flag soft" : `flag ${flag.level}`} key=${flag.code + flag.text}><${Icon} name="flag" />
      <span dir=${directionOf(flag.text)} lang=${languageOf(flag.text)}><bdi>${flag.text}</bdi>${forPeople(flag.remedy) && html` <bdi class="soft">${forPeople(flag.remedy)}</bdi>`}</span></li>`)}
    ${left > 0 && html`<li class="flag"><button type="button" class="link" onClick=${() => setAll(true)}>${n(left, "{n} more remark", "{n} more remarks")}</button></li>`}</ul>`;
}
