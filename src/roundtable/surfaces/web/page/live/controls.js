// What the chair can do from the page. Each act is an event of the discussion; a refusal says why.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { freshKey, post } from "../api.js";
import { Declare, fieldsOf, UNDECLARED } from "./declare.js";
import { plural } from "../format.js";
import { Dialog, Failure } from "../parts.js";
import { person } from "../reducer.js";
import { html } from "../ui.js";

const LARGEST = 1_500_000;
/** Milliseconds without an event after which nobody may be driving it any more. */
const STILL = 60_000;

/** Sends something, shows that it is under way, and keeps what was refused. */
export function useSending() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const send = async (work) => {
    if (busy) return false;
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (refused) {
      setError(refused);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, send, setError };
}

/** Whether nothing has happened for so long that the chair may want to take it up again. */
function useStill(state) {
  const [still, set] = useState(false);
  useEffect(() => {
    const look = () => set(Date.now() - new Date(state.updatedAt) > STILL);
    look();
    const timer = setInterval(look, STILL / 4);
    return () => clearInterval(timer);
  }, [state.updatedAt]);
  return still;
}

export function Controls({ base, id, state, derived, links, refresh }) {
  const still = useStill(state);
  const [open, setOpen] = useState("");
  const { busy, error, send } = useSending();
  const close = () => setOpen("");
  if (state.closed) {
    // The feed has ended with the discussion: what is said about it later is read on demand.
    const told = () => {
      close();
      refresh();
    };
    return html`<div class="controls" role="group" aria-label="Chair">
      <button type="button" class="main" onClick=${() => setOpen("follow")}>Ask further…</button>
      <button type="button" onClick=${() => setOpen("outcome")}>${state.outcome ? "It turned out otherwise…" : "How did it turn out?"}</button>
      <button type="button" onClick=${() => setOpen("share")}>Share…</button>
      ${open === "follow" && html`<${FollowUp} id=${id} onClose=${close} />`}
      ${open === "outcome" && html`<${Outcome} base=${base} known=${state.outcome} onClose=${told} />`}
      ${open === "share" && html`<${Share} base=${base} state=${state} onClose=${close} />`}</div>`;
  }
  const act = (name, body) => send(() => post(`${base}/${name}`, body));
  const may = (derived && derived.may) || {};
  const turns = ((derived && derived.open_turns) || []).filter((turn) => state.seats.includes(turn.participant));
  const called = turns.filter((turn) => turn.outside && links[turn.participant]);
  const questions = (derived && derived.questions) || [];
  return html`<div class="controls" role="group" aria-label="Chair">
    ${questions.length > 0 && html`<button type="button" class="main" onClick=${() => setOpen("answers")}>The host asks: answer…</button>`}
    ${open === "answers" && questions.length > 0 && html`<${Answers} base=${base} questions=${questions} onClose=${close} />`}
    ${called.map((turn) => html`<a class="button main" href=${new URL(links[turn.participant], location.href).pathname}>Speak for <bdi>${person(state, turn.participant).name}</bdi></a>`)}
    ${state.paused
      ? html`<button type="button" class="main" disabled=${busy} onClick=${() => act("resume")}>▶ Resume</button>`
      : html`<button type="button" disabled=${busy} onClick=${() => act("pause", { reason: "" })}>❚❚ Pause</button>`}
    ${still && !state.paused && !called.length && html`<button type="button" disabled=${busy} title="Nothing has happened for a while: let this server drive it, if nobody else does" onClick=${() => act("resume")}>▶ Go on</button>`}
    <button type="button" onClick=${() => setOpen("remark")}>Ask or remark…</button>
    <button type="button" onClick=${() => setOpen("material")}>Add a document…</button>
    ${turns.length > 0 && html`<button type="button" onClick=${() => setOpen("skip")}>Skip a turn…</button>`}
    ${may.extend && html`<button type="button" onClick=${() => setOpen("extend")}>More rounds…</button>`}
    ${may.lead && html`<button type="button" disabled=${busy} onClick=${() => act("advance")}>End this round</button>`}
    <button type="button" onClick=${() => setOpen("share")}>Share…</button>
    <button type="button" class="danger" onClick=${() => setOpen("stop")}>Stop…</button>
    <${Failure} error=${error} />
    ${open === "remark" && html`<${Remark} base=${base} onClose=${close} />`}
    ${open === "material" && html`<${Material} base=${base} onClose=${close} />`}
    ${open === "skip" && html`<${Skip} base=${base} state=${state} turns=${turns} onClose=${close} />`}
    ${open === "extend" && html`<${Extend} base=${base} onClose=${close} />`}
    ${open === "share" && html`<${Share} base=${base} state=${state} onClose=${close} />`}
    ${open === "stop" && html`<${Stop} base=${base} onClose=${close} />`}
  </div>`;
}

/** A form in a window: what is refused stays in it. */
function Form({ title, action, path, body, onClose, children, danger = false, ready = true }) {
  const { busy, error, send } = useSending();
  const submit = async (event) => {
    event.preventDefault();
    if (ready && (await send(() => post(path, body())))) onClose();
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      ${children}
      <${Failure} error=${error} />
      <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>Cancel</button>
      <button type="submit" class=${danger ? "danger" : "main"} disabled=${busy || !ready}>${action}</button></p>
    </form>
  <//>`;
}

function Remark({ base, onClose }) {
  const [text, set] = useState("");
  const key = useRef(freshKey());
  return html`<${Form} title="Ask or remark" action="Say it" path=${`${base}/speak`} body=${() => ({ text, key: key.current })} onClose=${onClose} ready=${text.trim() !== ""}>
    <label>As the host, to everybody at the table<textarea rows="6" dir="auto" autofocus value=${text} onInput=${(event) => set(event.target.value)}></textarea></label>
    <p class="faint small">Whoever speaks after this hears it.</p>
  <//>`;
}

/** What the host asks before anybody speaks: it waits a while, and then assumes. */
function Answers({ base, questions, onClose }) {
  const [texts, set] = useState(questions.map(() => ""));
  const key = useRef(freshKey());
  const put = (at, text) => set(texts.map((each, n) => (n === at ? text : each)));
  return html`<${Form} title="Before anybody speaks" action="Answer" path=${`${base}/answers`} body=${() => ({ answers: texts, key: key.current })} onClose=${onClose}>
    ${questions.map((each, at) => html`<label><bdi>${each.ask}</bdi><input type="text" dir="auto" value=${texts[at]} onInput=${(event) => put(at, event.target.value)} placeholder=${each.assume} /></label>`)}
    <p class="faint small">What you leave empty is assumed as it stands there, and the verdict says so.</p>
  <//>`;
}

function Material({ base, onClose }) {
  const [source, setSource] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const chosen = async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    if (file.size > LARGEST) {
      setProblem(`${file.name} is too large: 1.5 MB fit. Give an excerpt.`);
      return;
    }
    try {
      setText(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
      setSource(source || file.name);
      setProblem("");
    } catch {
      setProblem(`${file.name} is not UTF-8 text. Convert it, or paste its words.`);
    }
  };
  return html`<${Form} title="Add a document" action="Put it on the table" path=${`${base}/material`} body=${() => ({ source: source.trim() || "a document", text })} onClose=${onClose} ready=${text.trim() !== ""}>
    <label>Where it comes from<input type="text" dir="auto" value=${source} onInput=${(event) => setSource(event.target.value)} placeholder="Interview notes, 12 May" /></label>
    <label>A text file<input type="file" accept="text/*,.md,.txt,.csv,.json,.log,.py,.js,.ts,.html" onChange=${chosen} /></label>
    ${problem && html`<p class="alert bad" role="alert">${problem}</p>`}
    <label>or its words<textarea rows="8" dir="auto" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
  <//>`;
}

function Skip({ base, state, turns, onClose }) {
  const [who, set] = useState(turns[0].participant);
  return html`<${Form} title="Skip a turn" action="Do without it" path=${`${base}/skip`} body=${() => ({ participant: who })} onClose=${onClose}>
    <fieldset><legend>Whose turn is left out?</legend>${turns.map((turn) => html`<label class="choice"><input type="radio" name="who" checked=${who === turn.participant} onChange=${() => set(turn.participant)} /> <bdi>${person(state, turn.participant).name}</bdi></label>`)}</fieldset>
  <//>`;
}

function Extend({ base, onClose }) {
  const [rounds, set] = useState(1);
  return html`<${Form} title="More rounds" action="Give them" path=${`${base}/extend`} body=${() => ({ rounds })} onClose=${onClose} ready=${rounds >= 1}>
    <label>How many more<input type="number" min="1" max="20" value=${rounds} onInput=${(event) => set(Number(event.target.value))} /></label>
  <//>`;
}

function Stop({ base, onClose }) {
  const [reason, set] = useState("");
  return html`<${Form} title="Stop the discussion?" action="Stop it" danger path=${`${base}/stop`} body=${() => ({ reason })} onClose=${onClose}>
    <p>It ends with what exists. It cannot be taken up again.</p>
    <label>Why (optional)<input type="text" dir="auto" value=${reason} onInput=${(event) => set(event.target.value)} /></label>
  <//>`;
}

/** A further question to the same table: it begins at once, and its page is shown. */
function FollowUp({ id, onClose }) {
  const [topic, set] = useState("");
  const key = useRef(freshKey());
  const { busy, error, send } = useSending();
  const ready = topic.trim() !== "";
  const submit = (event) => {
    event.preventDefault();
    if (!ready) return;
    send(async () => {
      const started = await post("/api/discussions", { topic: topic.trim(), follows: id, key: key.current });
      location.href = new URL(started.url, location.href).pathname;
    });
  };
  return html`<${Dialog} title="Ask the same table further" onClose=${onClose}>
    <form onSubmit=${submit}>
      <label>Your further question<textarea rows="4" dir="auto" autofocus value=${topic} onInput=${(event) => set(event.target.value)}></textarea></label>
      <p class="faint small">The same seats, models and rules; they have the verdict, the positions and the dissent in hand.</p>
      <${Failure} error=${error} />
      <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>Cancel</button>
      <button type="submit" class="main" disabled=${busy || !ready}>Ask it</button></p>
    </form>
  <//>`;
}

function Outcome({ base, known, onClose }) {
  const [outcome, setOutcome] = useState(known ? known.outcome : "");
  const [note, setNote] = useState(known ? known.note : "");
  return html`<${Form} title="How did it turn out?" action="Record it" path=${`${base}/outcome`} body=${() => ({ outcome, note })} onClose=${onClose} ready=${outcome !== ""}>
    <fieldset><legend>The decision was</legend>${["good", "mixed", "bad"].map((each) => html`<label class="choice"><input type="radio" name="outcome" checked=${outcome === each} onChange=${() => setOutcome(each)} /> ${each}</label>`)}</fieldset>
    <label>What came of it (optional)<textarea rows="3" dir="auto" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea></label>
    <p class="faint small">Your outcomes make the confidence of later verdicts fit your decisions.</p>
  <//>`;
}

function Share({ base, state, onClose }) {
  const [role, setRole] = useState("viewer");
  const [seat, setSeat] = useState(state.seats[0] || "");
  const [hours, setHours] = useState("");
  const [password, setPassword] = useState("");
  const [made, setMade] = useState("");
  const [copied, setCopied] = useState(false);
  const { busy, error, send } = useSending();
  const submit = (event) => {
    event.preventDefault();
    send(async () => {
      const body = { role };
      if (role === "seat") body.seat = seat;
      if (hours) body.hours = Number(hours);
      if (password) body.password = password;
      const { url } = await post(`${base}/share`, body);
      setMade(new URL(url, location.href).href);
      setCopied(false);
    });
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made);
      setCopied(true);
    } catch {
      document.getElementById("shared-link").select();
    }
  };
  return html`<${Dialog} title="Share a link" onClose=${onClose}>
    <form onSubmit=${submit}>
      <fieldset><legend>Who opens it may</legend>
        <label class="choice"><input type="radio" name="role" checked=${role === "viewer"} onChange=${() => setRole("viewer")} /> watch</label>
        ${!state.closed && html`<label class="choice"><input type="radio" name="role" checked=${role === "seat"} onChange=${() => setRole("seat")} /> speak for a seat</label>
        <label class="choice"><input type="radio" name="role" checked=${role === "host"} onChange=${() => setRole("host")} /> chair it as you do</label>`}
      </fieldset>
      ${role === "seat" && html`<label>Seat<select value=${seat} onChange=${(event) => setSeat(event.target.value)}>${state.seats.map((id) => html`<option value=${id} selected=${id === seat}>${person(state, id).name}</option>`)}</select></label>`}
      <div class="pair"><label>Valid for hours (optional)<input type="number" min="1" value=${hours} placeholder="for ever" onInput=${(event) => setHours(event.target.value)} /></label>
      <label>Password (optional)<input type="text" autocomplete="off" value=${password} onInput=${(event) => setPassword(event.target.value)} /></label></div>
      <${Failure} error=${error} />
      ${made && html`<div class="made"><label>The link<input id="shared-link" type="text" readonly value=${made} onFocus=${(event) => event.target.select()} /></label>
        <button type="button" onClick=${copy}>${copied ? "Copied" : "Copy"}</button></div>`}
      <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>Close</button><button type="submit" class="main" disabled=${busy}>Make a link</button></p>
    </form>
  <//>`;
}

/** The place of a person who holds a seat: called when it is their turn, quiet while it is not. */
export function SpeakBox({ base, state, derived, seat }) {
  const who = person(state, seat);
  const turn = ((derived && derived.open_turns) || []).find((each) => each.participant === seat);
  const store = `roundtable-words-${base}`;
  const [text, setText] = useState(() => kept(store));
  const [said, setSaid] = useState("");
  const [held, setHeld] = useState(UNDECLARED);
  const [told, setTold] = useState([]);
  const key = useRef(freshKey());
  const { busy, error, send } = useSending();
  if (state.closed) return null;
  const typed = (words) => {
    setText(words);
    keep(store, words);
  };
  const form = turn && turn.form;
  const declared = form ? fieldsOf(form, held) : null;
  // Some turns ask for a vote and no words.
  const ready = form && form.alone ? declared !== null : text.trim() !== "";
  const speak = async (event) => {
    event.preventDefault();
    if (!ready || !turn) return;
    const body = { text: form && form.alone ? "" : text, key: key.current };
    if (declared) body.declaration = declared;
    await send(async () => {
      const answer = await post(`${base}/speak`, body);
      setSaid(turn.turn_id);
      setTold([answer.recorded, ...answer.problems].filter(Boolean));
      setHeld(UNDECLARED);
      typed("");
      key.current = freshKey();
    });
  };
  const hurried = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) speak(event);
  };
  const vote = (in_favour) => send(() => post(`${base}/vote`, { in_favour }));
  const mayVote = derived && derived.may.lead;
  const due = turn && turn.turn_id !== said;
  const words = text.trim() ? text.trim().split(/\s+/).length : 0;
  return html`<section class=${`speak-box ${due ? "due" : ""}`} aria-label="Your seat">
    <p class="call" role="status">${due
      ? html`<strong>Your turn, <bdi>${who.name}</bdi>.</strong> ${turn.round ? `Round ${turn.round}` : ""}`
      : html`You hold the seat of <strong><bdi>${who.name}</bdi></strong>. ${state.paused ? "The discussion is paused." : "You will be called here when it is your turn."}`}</p>
    ${!due && told.length > 0 && html`<ul class="told small" role="status">${told.map((each) => html`<li dir="auto">${each}</li>`)}</ul>`}
    ${due && html`<form onSubmit=${speak}>
      ${!(form && form.alone) && html`<label><span class="sr">Your speech</span><textarea rows="5" dir="auto" value=${text} placeholder="Say what you think, and why." onInput=${(event) => typed(event.target.value)} onKeyDown=${hurried}></textarea></label>`}
      ${form && html`<${Declare} form=${form} held=${held} onChange=${setHeld} />`}
      ${form && !declared && text.trim() && html`<p class="faint small" role="note">Without a vote or a position your words are heard, and not counted.</p>`}
      <p class="buttons"><span class="faint small">${plural(words, "word")}${turn.min_words ? `, at least ${turn.min_words}` : ""}${turn.max_words ? `, at most ${turn.max_words}` : ""}</span>
        ${turn.sections.length > 0 && !text.trim() && html`<button type="button" class="quiet" onClick=${() => typed(turn.sections.map((name) => `## ${name}\n\n`).join("\n"))}>Insert the headings asked for</button>`}
        <button type="submit" class="main" disabled=${busy || !ready} title="Ctrl + Enter">${form && form.alone ? "Vote" : "Speak"}</button></p>
    </form>`}
    ${mayVote && html`<p class="vote small">${state.votes[seat]
      ? html`You voted to end. <button type="button" class="quiet" disabled=${busy} onClick=${() => vote(false)}>Take it back</button>`
      : html`<button type="button" class="quiet" disabled=${busy} onClick=${() => vote(true)}>Vote to end the discussion</button>`}</p>`}
    <${Failure} error=${error} />
  </section>`;
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
