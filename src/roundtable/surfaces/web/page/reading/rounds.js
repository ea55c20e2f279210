// What was said, round by round. Thousands of speeches are put into the page a few at a time, so that
// there is something to read at once and the page never stands still.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { count, plural, titled, turnPlace } from "../format.js";
import { Alert, Disc, languageOf, seatClass, Time, Words } from "../parts.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";

const AT_FIRST = 12;
const AT_ONCE = 16;

export function roundTitle(place) {
  return place ? `Round ${place}` : "Opening";
}

/** What a speech declares, in words: options by what they say, people by their names. */
function Declared({ lines, options, sat }) {
  if (!lines.length) return null;
  const name = (id) => (sat[id] ? sat[id].name : id);
  const words = (id) => (options[id] ? `“${options[id]}”` : id);
  return html`<ul class="declared" aria-label="Declared">${lines.map((line) => html`<li dir="auto"><span class="label">${line.label}</span> ${line.ids.map(words).join(", ")}${line.who && ` ${name(line.who)}`}${line.text && html`${line.ids.length || line.who ? ": " : " "}<bdi>${line.text}</bdi>`}</li>`)}</ul>`;
}

const Speech = memo(function Speech({ item, who, options, sat }) {
  const place = turnPlace(item.id);
  return html`<article class=${`speech ${seatClass(who)}`} id=${place} tabindex="-1" aria-labelledby=${`${place}-by`}>
    <${Heading} item=${item} who=${who} place=${place} />
    ${item.kind === "failure"
      ? html`<${Alert} title="No speech." text=${item.message} remedy=${item.remedy} />`
      : html`${item.html && html`<${Words} markup=${item.html} under=${4} />`}<${Declared} lines=${item.declared || []} options=${options} sat=${sat} />`}
  </article>`;
});

function Heading({ item, who, place }) {
  const role = who.role && who.role.toLowerCase() !== who.name.toLowerCase() ? who.role : "";
  return html`<header>
    <${Disc} who=${who} />
    <div class="by">
      <h4 id=${`${place}-by`}><bdi>${who.name}</bdi>${role && html` <span class="role" dir="auto">${role}</span>`}</h4>
      <p class="about">
        <span>${titled(item.stage)}</span>
        ${item.model && html`<bdi class="model">${item.model === "outside" ? "spoken by hand" : item.model}</bdi>`}
        ${item.at && html`<${Time} at=${item.at} />`}
        ${item.marks.map((mark) => html`<bdi class=${`badge ${mark.kind}`} title=${mark.title}>${mark.text}</bdi>`)}
      </p>
    </div>
    ${item.at && html`<a class="anchor" href=${`#${encodeURI(place)}`} aria-label=${`Link to this speech of ${who.name}`}>#</a>`}
  </header>`;
}

/** Words as they come. They may still be thrown away, and look like it. */
const Draft = memo(function Draft({ turn, who, drafts }) {
  const [words, set] = useState(drafts.words.get(turn.turn_id) || "");
  useEffect(() => {
    set(drafts.words.get(turn.turn_id) || "");
    return drafts.listen(turn.turn_id, set);
  }, [turn.turn_id]);
  const item = { stage: turn.stage, model: turn.model, marks: turn.attempt > 1 ? [{ kind: "retried", text: `try ${turn.attempt}` }] : [] };
  return html`<article class=${`speech draft ${seatClass(who)}`} aria-label=${`${who.name} is speaking`}>
    <${Heading} item=${item} who=${who} place=${`draft-${turn.turn_id}`} />
    ${words
      ? html`<div class="words growing" dir="auto" lang=${languageOf(words)}>${words}</div>`
      : html`<p class="thinking"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span> thinking</p>`}
  </article>`;
});

const ACTS = {
  seated: (act) => [act.joined.length ? `${act.joined.join(", ")} joined the table` : "", act.left.length ? `${act.left.join(", ")} left the table` : ""].filter(Boolean).join("; "),
  workflow: (act) => `The table chose its workflow: ${titled(act.workflow)}, ${plural(act.rounds, "round")}`,
  tabled: (act) => `${act.given ? "Put to the vote" : "The host lists what differs"}: ${act.decisions.map((each) => each.options.map((option) => `“${option.text}”`).join(" / ")).join("; ")}`,
  voted: (act, name) => `${name(act.participant)} voted ${act.in_favour ? "to end" : "to go on"}`,
  advanced: (act, name) => `${act.by || "Somebody"} ended round ${act.round}${act.absent.length ? `; absent: ${act.absent.map(name).join(", ")}` : ""}`,
  searched: (act) => `Searched the web with ${act.provider}: “${act.query}”`,
  "search failed": (act) => `The web search (${act.provider}) failed: ${act.message}`,
  chosen: (act) => `${titled(act.question)}: ${act.answer}${act.by === "default" ? " (the default)" : ""}`,
  budget: (act) => `The ${act.limit} limit was reached: ${act.detail}`,
  paused: (act) => `Paused by ${act.by}${act.reason ? `: ${act.reason}` : ""}`,
  resumed: (act) => `Resumed by ${act.by}`,
  material: (act) => `${act.by} put “${act.source}” on the table (${count(act.characters)} characters)`,
  extended: (act) => `${act.by} gave the table ${plural(act.rounds, "more round", "more rounds")}`,
  stop: (act) => `${act.by} asked to stop${act.reason ? `: ${act.reason}` : ""}`,
};

const Act = memo(function Act({ item, state }) {
  const name = (id) => person(state, id).name;
  return html`<div class=${`act ${item.what.replace(" ", "-")}`} id=${item.id}>
    <p dir="auto">${ACTS[item.what](item, name)} <${Time} at=${item.at} /></p>
    ${item.hits && item.hits.length > 0 && html`<details class="fold"><summary>${plural(item.hits.length, "result")}, unverified</summary>
      <ul>${item.hits.map((hit) => html`<li dir="auto">${hit.title || hit.url} <span class="faint">${hit.url}</span></li>`)}</ul></details>`}
  </div>`;
});

const Round = memo(function Round({ round, shown, sat, host, options, open, drafts, matches }) {
  const state = { sat, host };
  const items = (matches ? round.items.filter((item) => matches(item, person(state, item.participant || ""))) : round.items).slice(0, shown);
  if (!items.length && !open.length) return null;
  const id = `round-${round.place}`;
  return html`<section class="round" id=${id} aria-labelledby=${`${id}-head`}>
    <h3 id=${`${id}-head`}>${roundTitle(round.place)}</h3>
    ${items.map((item) => (item.kind === "act"
      ? html`<${Act} key=${item.id} item=${item} state=${item.participant || item.absent ? state : STILL} />`
      : html`<${Speech} key=${item.id} item=${item} who=${person(state, item.participant)} options=${item.declared && item.declared.length ? options : NOTHING} sat=${item.declared && item.declared.length ? sat : NOTHING} />`))}
    ${open.map((turn) => html`<${Draft} key=${`draft-${turn.turn_id}`} turn=${turn} who=${person(state, turn.participant)} drafts=${drafts} />`)}
  </section>`;
});

const NOTHING = {};
const STILL = { sat: {}, host: null };
const NONE = [];

/** `mount` is given a function that puts everything into the page at once, for jumps and printing. */
export function Rounds({ state, drafts, find, mount }) {
  const total = state.rounds.reduce((sum, round) => sum + round.items.length, 0);
  const [limit, setLimit] = useState(AT_FIRST);
  const all = useRef(false);
  useEffect(() => {
    if (all.current || limit >= total) return undefined;
    const more = () => setLimit((now) => now + AT_ONCE);
    const idle = window.requestIdleCallback ? requestIdleCallback(more, { timeout: 300 }) : setTimeout(more, 30);
    return () => (window.cancelIdleCallback ? cancelIdleCallback(idle) : clearTimeout(idle));
  }, [limit, total]);
  useLayoutEffect(() => {
    mount.current = () => {
      all.current = true;
      setLimit(Infinity);
    };
  }, []);
  // Once everything was shown, what comes later is shown as it comes.
  if (limit >= total && total > AT_FIRST && state.seq) all.current = true;
  const words = find.trim().toLowerCase();
  const matches = useMatches(words);
  const speaking = Object.values(state.speaking);
  const rounds = withOpen(state.rounds, speaking);
  let left = all.current || words ? Infinity : limit;
  return html`<div class="rounds">
    ${rounds.map((round) => {
      const shown = Math.min(left, round.items.length);
      left -= shown;
      const open = words ? NONE : speakingIn(speaking, round.place);
      return html`<${Round} key=${round.place} round=${round} shown=${shown} sat=${state.sat} host=${state.host} options=${state.options} open=${open} drafts=${drafts} matches=${matches} />`;
    })}
    ${words && html`<p class="faint" role="status">${plural(found(rounds, matches, state), "match", "matches")} for “${find.trim()}”</p>`}
  </div>`;
}

function useMatches(words) {
  const made = useRef({ words: "", test: null });
  if (made.current.words !== words) {
    made.current = { words, test: words ? (item, who) => textOf(item, who).includes(words) : null };
  }
  return made.current.test;
}

const texts = new WeakMap();

function textOf(item, who) {
  if (!texts.has(item)) {
    const words = item.html ? item.html.replace(/<[^>]*>/g, " ") : `${item.message || ""} ${item.source || ""} ${item.query || ""}`;
    texts.set(item, words.toLowerCase());
  }
  return `${who.name.toLowerCase()} ${texts.get(item)}`;
}

function found(rounds, matches, state) {
  return rounds.reduce((sum, round) => sum + round.items.filter((item) => matches(item, person(state, item.participant || ""))).length, 0);
}

const held = new Map();

/** The turns under way in a round; the same list as long as they are the same. */
function speakingIn(speaking, place) {
  const now = speaking.filter((each) => each.place === place);
  const before = held.get(place) || NONE;
  if (now.length === before.length && now.every((each, n) => each === before[n])) return before;
  held.set(place, now);
  return now;
}

function withOpen(rounds, speaking) {
  const missing = [...new Set(speaking.map((each) => each.place))].filter((place) => !rounds.some((round) => round.place === place));
  if (!missing.length) return rounds;
  return [...rounds, ...missing.map((place) => ({ place, items: NONE }))].sort((a, b) => a.place - b.place);
}
