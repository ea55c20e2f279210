// A person's turn takes the dock's place: it cannot be missed. So do the host's questions before the start.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { freshKey, post } from "../api.js";
import { Failure } from "../parts.js";
import { person } from "../reducer.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { Declare, fieldsOf, UNDECLARED } from "./declare.js";
import { useSending } from "../sending.js";

/** The turn of this seat that waits for words, if there is one. */
export function turnOf(state, derived, seat) {
  if (!seat || state.closed || state.paused || !derived) return null;
  return derived.open_turns.find((turn) => turn.participant === seat) || null;
}

function limits(turn) {
  if (turn.min_words && turn.max_words) return t("{least} to {most} words are asked for", { least: turn.min_words, most: turn.max_words });
  if (turn.min_words) return t("At least {n} words are asked for", { n: turn.min_words });
  return turn.max_words ? t("At most {n} words", { n: turn.max_words }) : "";
}

/** Milliseconds between two looks at the clock, and seconds below which it is said to the second. */
const TICK = 1000;
const CLOSE = 90;

/** How long whoever has the turn is still waited for. */
function Left({ until }) {
  const rest = () => Math.max(0, Math.round((new Date(until) - Date.now()) / 1000));
  const [left, set] = useState(rest);
  useEffect(() => {
    set(rest());
    const timer = setInterval(() => set(rest()), TICK);
    return () => clearInterval(timer);
  }, [until]);
  const told = !left ? t("The time is up: it may go on without you at any moment")
    : left < CLOSE ? n(left, "{n} second left to speak", "{n} seconds left to speak")
      : n(Math.floor(left / 60), "{n} minute left to speak", "{n} minutes left to speak");
  return html`<span class=${left < CLOSE ? "left-to-speak hurry" : "left-to-speak"} role="timer">${told}</span>`;
}

/** The form of one's turn. `base` is the link of the seat, `onSaid` hears that it is over. */
export function YourTurn({ base, state, turn, own, onSaid, onClose }) {
  const who = person(state, turn.participant);
  const store = `roundtable-words-${base}`;
  const [text, setText] = useState(() => kept(store));
  const [held, setHeld] = useState(UNDECLARED);
  const key = useRef(freshKey());
  const { busy, error, send } = useSending();
  const place = useRef(null);
  const { form } = turn;
  const typed = (words) => {
    setText(words);
    keep(store, words);
  };
  useEffect(() => {
    // Whoever is in the middle of something else is not torn out of it.
    if (document.activeElement === document.body && place.current) place.current.focus({ preventScroll: true });
  }, []);
  const declared = form ? fieldsOf(form, held) : null;
  // Some turns ask for a vote and no words.
  const ready = form && form.alone ? declared !== null : text.trim() !== "";
  const speak = async (event) => {
    event.preventDefault();
    if (!ready) return;
    const body = { text: form && form.alone ? "" : text, key: key.current };
    if (declared) body.declaration = declared;
    await send(async () => {
      const answer = await post(`${base}/speak`, body);
      typed("");
      // What a program is told of a declaration that it left out is nothing for people.
      const remarks = form && !declared ? [t("Your words are heard, and not counted: no vote and no position came with them.")] : answer.problems;
      onSaid(turn.turn_id, [answer.recorded, ...remarks].filter(Boolean));
    });
  };
  const hurried = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) speak(event);
  };
  const words = text.trim() ? text.trim().split(/\s+/).length : 0;
  return html`<section class="turn" aria-label=${t("Your turn")}><div class="wrap">
    <div class="call" role="status"><h2>${own ? t("It is your turn. The others wait for you.") : t("Speak for {name}", { name: who.name })}</h2>
      <span class="soft s">${turn.round ? t("Round {round}", { round: turn.round }) : ""}</span>
      ${onClose && html`<button type="button" class="quiet" onClick=${onClose}>${t("Not now")}</button>`}</div>
    <form onSubmit=${speak}>
      ${!(form && form.alone) && html`<label><span class="sr">${t("Your speech")}</span><textarea ref=${place} rows="3" dir="auto" value=${text} placeholder=${t("What do you hold, and why?")} onInput=${(event) => typed(event.target.value)} onKeyDown=${hurried}></textarea></label>`}
      ${form && html`<${Declare} form=${form} held=${held} onChange=${setHeld} />`}
      ${form && !declared && text.trim() && html`<p class="soft s" role="note">${t("Without a vote or a position your words are heard, and not counted.")}</p>`}
      <${Failure} error=${error} />
      <p class="buttons"><span class="soft s">${turn.until && html`<${Left} until=${turn.until} />`}${[words ? n(words, "{n} word", "{n} words") : turn.until ? "" : t("No hurry: nothing goes on before you speak"), limits(turn)].filter(Boolean).map((each, at) => (at || turn.until ? ` · ${each}` : each))}</span>
        ${turn.sections.length > 0 && !text.trim() && html`<button type="button" class="quiet" onClick=${() => typed(turn.sections.map((name) => `## ${name}\n\n`).join("\n"))}>${t("Insert the headings asked for")}</button>`}
        <button type="submit" class="main" disabled=${busy || !ready} title=${t("Ctrl + Enter")}>${form && form.alone ? t("Cast the vote") : t("Speak")}</button></p>
    </form>
  </div></section>`;
}

/** What the host asks before anybody speaks: it waits a while, and then assumes. */
export function Questions({ base, questions }) {
  const [texts, set] = useState(questions.map(() => ""));
  const key = useRef(freshKey());
  const { busy, error, send } = useSending();
  const [done, setDone] = useState(false);
  if (done) return null;
  const put = (at, text) => set(texts.map((each, number) => (number === at ? text : each)));
  const answer = async (event) => {
    event.preventDefault();
    if (await send(() => post(`${base}/answers`, { answers: texts, key: key.current }))) setDone(true);
  };
  return html`<section class="turn" aria-label=${t("The host asks")}><div class="wrap">
    <div class="call" role="status"><h2>${n(questions.length, "Before anybody speaks: the host has {n} question", "Before anybody speaks: the host has {n} questions")}</h2></div>
    <form onSubmit=${answer}>
      ${questions.map((each, at) => html`<label><bdi>${each.ask}</bdi><input type="text" dir="auto" value=${texts[at]} onInput=${(event) => put(at, event.target.value)} placeholder=${each.assume} /></label>`)}
      <${Failure} error=${error} />
      <p class="buttons"><span class="soft s">${t("What you leave empty is assumed as it stands there, and the answer says so.")}</span>
        <button type="submit" class="main" disabled=${busy}>${texts.some((each) => each.trim()) ? t("Send the answers") : t("Assume it so")}</button></p>
    </form>
  </div></section>`;
}

function kept(name) {
  try {
    return localStorage.getItem(name) || "";
  } catch {
    return "";
  }
}

function keep(name, words) {
  try {
    if (words) localStorage.setItem(name, words);
    else localStorage.removeItem(name);
  } catch {
    // It is still in the box.
  }
}
