// What whoever leads can do while it goes on. Each act is an event of the discussion; a refusal says why.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { freshKey, post } from "../api.js";
import { Icon } from "../icons.js";
import { Failure } from "../parts.js";
import { person } from "../reducer.js";
import { Form, useSending } from "../sending.js";
import { html } from "../ui.js";
import { t } from "../words.js";

const LARGEST = 1_500_000;

/** Quiet at the end of the dock. `speakers` are the called seats that this browser may speak for. */
export function HostControls({ base, state, derived, speakers, onSpeak }) {
  const [open, setOpen] = useState("");
  const { busy, error, send } = useSending();
  const close = () => setOpen("");
  const act = (name, body) => send(() => post(`${base}/${name}`, body));
  const may = (derived && derived.may) || {};
  const turns = ((derived && derived.open_turns) || []).filter((turn) => state.seats.includes(turn.participant));
  const more = [
    turns.length > 0 && [t("Skip a turn"), () => setOpen("skip")],
    may.extend && [t("More rounds"), () => setOpen("extend")],
    may.lead && [t("End this round"), () => act("advance")],
    [t("Stop"), () => setOpen("stop")],
  ].filter(Boolean);
  return html`<div class="host-controls" role="group" aria-label=${t("Lead the discussion")}>
    ${speakers.map((turn) => html`<button type="button" onClick=${() => onSpeak(turn.participant)}>${t("Speak for {name}", { name: person(state, turn.participant).name })}</button>`)}
    ${state.paused
      ? html`<button type="button" class="main" disabled=${busy} onClick=${() => act("resume")}><${Icon} name="play" />${t("Go on")}</button>`
      : html`<button type="button" class="quiet" disabled=${busy} aria-label=${t("Pause")} onClick=${() => act("pause", { reason: "" })}><${Icon} name="pause" /><span class="lbl">${t("Pause")}</span></button>`}
    <button type="button" class="quiet" aria-label=${t("Ask or remark")} onClick=${() => setOpen("remark")}><${Icon} name="remark" /><span class="lbl">${t("Ask or remark")}</span></button>
    <button type="button" class="quiet" aria-label=${t("Add a document")} onClick=${() => setOpen("material")}><${Icon} name="document" /><span class="lbl">${t("Add a document")}</span></button>
    <${More} acts=${more} />
    <${Failure} error=${error} />
    ${open === "remark" && html`<${Remark} base=${base} onClose=${close} />`}
    ${open === "material" && html`<${Material} base=${base} onClose=${close} />`}
    ${open === "skip" && html`<${Skip} base=${base} state=${state} turns=${turns} onClose=${close} />`}
    ${open === "extend" && html`<${Extend} base=${base} onClose=${close} />`}
    ${open === "stop" && html`<${Stop} base=${base} onClose=${close} />`}
  </div>`;
}

/** What is seldom needed, behind one button. */
function More({ acts }) {
  const place = useRef(null);
  useEffect(() => {
    const away = (event) => {
      const { current } = place;
      if (!current || !current.open) return;
      if (event.type === "keydown" ? event.key !== "Escape" : current.contains(event.target)) return;
      current.open = false;
      if (event.type === "keydown") current.querySelector("summary").focus();
    };
    document.addEventListener("click", away);
    document.addEventListener("keydown", away);
    return () => {
      document.removeEventListener("click", away);
      document.removeEventListener("keydown", away);
    };
  }, []);
  const chosen = (work) => () => {
    place.current.open = false;
    work();
  };
  return html`<details class="menu more" ref=${place}><summary aria-label=${t("More")} title=${t("More")}><${Icon} name="more" /></summary>
    <ul>${acts.map(([name, work]) => html`<li><button type="button" class="quiet" onClick=${chosen(work)}>${name}</button></li>`)}</ul></details>`;
}

function Remark({ base, onClose }) {
  const [text, set] = useState("");
  const key = useRef(freshKey());
  return html`<${Form} title=${t("Ask or remark")} action=${t("Say it")} path=${`${base}/speak`} body=${() => ({ text, key: key.current, as_host: true })} onClose=${onClose} ready=${text.trim() !== ""}>
    <label>${t("As the host, to everybody at the table")}<textarea rows="6" dir="auto" autofocus value=${text} onInput=${(event) => set(event.target.value)}></textarea></label>
    <p class="soft s">${t("Whoever speaks after this hears it.")}</p>
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
      setProblem(t("{name} is too large: 1.5 MB fit. Give an excerpt.", { name: file.name }));
      return;
    }
    try {
      setText(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
      setSource(source || file.name);
      setProblem("");
    } catch {
      setProblem(t("{name} is not UTF-8 text. Convert it, or paste its words.", { name: file.name }));
    }
  };
  return html`<${Form} title=${t("Add a document")} action=${t("Put it on the table")} path=${`${base}/material`} body=${() => ({ source: source.trim() || t("a document"), text })} onClose=${onClose} ready=${text.trim() !== ""}>
    <label>${t("Where it comes from")}<input type="text" dir="auto" value=${source} onInput=${(event) => setSource(event.target.value)} placeholder=${t("Interview notes, 12 May")} /></label>
    <label>${t("A text file")}<input type="file" accept="text/*,.md,.txt,.csv,.json,.log,.py,.js,.ts,.html" onChange=${chosen} /></label>
    ${problem && html`<p class="alert bad" role="alert">${problem}</p>`}
    <label>${t("or its words")}<textarea rows="8" dir="auto" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
  <//>`;
}

function Skip({ base, state, turns, onClose }) {
  const [who, set] = useState(turns[0].participant);
  return html`<${Form} title=${t("Skip a turn")} action=${t("Do without it")} path=${`${base}/skip`} body=${() => ({ participant: who })} onClose=${onClose}>
    <fieldset><legend>${t("Whose turn is left out?")}</legend>${turns.map((turn) => html`<label class="choice"><input type="radio" name="who" checked=${who === turn.participant} onChange=${() => set(turn.participant)} /> <bdi>${person(state, turn.participant).name}</bdi></label>`)}</fieldset>
  <//>`;
}

function Extend({ base, onClose }) {
  const [rounds, set] = useState(1);
  return html`<${Form} title=${t("More rounds")} action=${t("Give them")} path=${`${base}/extend`} body=${() => ({ rounds })} onClose=${onClose} ready=${rounds >= 1}>
    <label>${t("How many more")}<input type="number" min="1" max="20" value=${rounds} onInput=${(event) => set(Number(event.target.value))} /></label>
  <//>`;
}

function Stop({ base, onClose }) {
  const [reason, set] = useState("");
  return html`<${Form} title=${t("Stop the discussion?")} action=${t("Stop it")} danger path=${`${base}/stop`} body=${() => ({ reason })} onClose=${onClose}>
    <p>${t("It ends with what exists. It cannot be taken up again.")}</p>
    <label>${t("Why (optional)")}<input type="text" dir="auto" value=${reason} onInput=${(event) => set(event.target.value)} /></label>
  <//>`;
}
