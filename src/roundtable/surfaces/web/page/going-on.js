// What one does with a decision: ask further, ask again, compare, say how it turned out.
import { useEffect, useRef, useState } from "./vendor/hooks.js";
import { freshKey, get, post } from "./api.js";
import { ago } from "./format.js";
import { Dialog, Failure, languageOf } from "./parts.js";
import { Form, useSending } from "./sending.js";
import { html } from "./ui.js";
import { t } from "./words.js";

/** What the form that starts a discussion is to begin with. */
export const AGAIN = "roundtable-again";

/** Opens the form that starts a discussion, with this question in it. */
export function askAgain(topic, procedure = "") {
  try {
    sessionStorage.setItem(AGAIN, JSON.stringify({ topic, procedure }));
  } catch {
    // The form begins empty then.
  }
  location.assign("/#new");
}

export function GoingOn({ base, info, state, example, refresh }) {
  const [open, setOpen] = useState("");
  const close = () => setOpen("");
  if (!info.leads) return null;
  const again = () => askAgain(state.topic, state.procedure);
  if (example) {
    return info.owns && html`<section class="wrap going-on" id="follow-up" aria-label=${t("Follow-up")} tabindex="-1">
      <div class="row"><button type="button" class="main" onClick=${again}>${t("Ask this question yourself")}</button></div></section>`;
  }
  return html`<section class="wrap going-on" id="follow-up" aria-label=${t("Follow-up")} tabindex="-1">
    ${info.owns && state.verdict && html`<${Further} id=${info.discussion_id} />`}
    <div class="row">
      ${info.owns && html`<button type="button" onClick=${again}>${t("Ask again with other experts")}</button>
        <button type="button" onClick=${() => setOpen("compare")}>${t("Compare with another decision")}</button>`}
      <button type="button" onClick=${() => setOpen("outcome")}>${state.outcome ? t("It turned out otherwise") : t("Say how it turned out")}</button>
    </div>
    ${open === "compare" && html`<${Compare} id=${info.discussion_id} onClose=${close} />`}
    ${open === "outcome" && html`<${Outcome} base=${base} known=${state.outcome} onClose=${() => {
      close();
      // The feed has ended with the discussion: what is said about it later is read on demand.
      refresh();
    }} />`}
  </section>`;
}

/** A further question to the same table: it begins at once, and its page is shown. */
function Further({ id }) {
  const [topic, set] = useState("");
  const key = useRef(freshKey());
  const { busy, error, send } = useSending();
  const ready = topic.trim() !== "";
  const submit = (event) => {
    event.preventDefault();
    if (!ready) return;
    send(async () => {
      const started = await post("/api/discussions", { topic: topic.trim(), follows: id, key: key.current });
      location.assign(new URL(started.url, location.href).pathname);
    });
  };
  return html`<form class="ask" onSubmit=${submit}>
    <h2 id="follow-up-head"><label for="further">${t("Ask the table a follow-up")}</label></h2>
    <textarea id="further" rows="2" dir="auto" value=${topic} placeholder=${t("For example: what if we can spare only two people?")} onInput=${(event) => set(event.target.value)}></textarea>
    <${Failure} error=${error} />
    <p class="buttons"><span class="soft s">${t("The same seats, models and rules, with the answer, the positions and the dissent in hand.")}</span>
      <button type="submit" class="main" disabled=${busy || !ready}>${t("Ask")}</button></p>
  </form>`;
}

function Outcome({ base, known, onClose }) {
  const [outcome, setOutcome] = useState(known ? known.outcome : "");
  const [note, setNote] = useState(known ? known.note : "");
  const words = [["good", t("good")], ["mixed", t("mixed")], ["bad", t("bad")]];
  return html`<${Form} title=${t("How did it turn out?")} action=${t("Record it")} path=${`${base}/outcome`} body=${() => ({ outcome, note })} onClose=${onClose} ready=${outcome !== ""}>
    <fieldset><legend>${t("The decision was")}</legend>${words.map(([value, text]) => html`<label class="choice"><input type="radio" name="outcome" checked=${outcome === value} onChange=${() => setOutcome(value)} /> ${text}</label>`)}</fieldset>
    <label>${t("What came of it (optional)")}<textarea rows="3" dir="auto" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea></label>
    <p class="soft s">${t("Your outcomes make the confidence of later verdicts fit your decisions.")}</p>
  <//>`;
}

/** Another decision beside this one, row by row. */
function Compare({ id, onClose }) {
  const [search, setSearch] = useState("");
  const [rows, setRows] = useState(null);
  const [found, setFound] = useState(null);
  const { error, send } = useSending();
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = search.trim() ? `&search=${encodeURIComponent(search.trim())}` : "";
      get(`/api/discussions?limit=30${query}`).then((listed) => setRows(listed.discussions.filter((each) => each.discussion_id !== id)), () => setRows([]));
    }, search ? 200 : 0);
    return () => clearTimeout(timer);
  }, [search]);
  const choose = (other) => send(async () => setFound(await get(`/api/compare?one=${encodeURIComponent(id)}&other=${encodeURIComponent(other)}`)));
  return html`<${Dialog} title=${t("Compare with another decision")} onClose=${onClose} wide>
    <${Failure} error=${error} />
    ${found ? html`<${Beside} found=${found} /><p class="buttons"><button type="button" onClick=${() => setFound(null)}>${t("Choose another")}</button></p>`
      : html`<label>${t("Find a decision")}<input type="search" dir="auto" value=${search} onInput=${(event) => setSearch(event.target.value)} /></label>
        ${rows && !rows.length && html`<p class="soft s" role="status">${t("There is no other decision to compare with.")}</p>`}
        <ul class="choices">${(rows || []).map((row) => html`<li key=${row.discussion_id}><button type="button" class="quiet" dir="auto" lang=${languageOf(row.topic)} onClick=${() => choose(row.discussion_id)}>${row.topic} <span class="soft xs">${ago(row.updated_at)}</span></button></li>`)}</ul>`}
  <//>`;
}

function Beside({ found }) {
  const part = (title, rows) => rows.length > 0 && html`<table class="beside"><caption>${title}</caption>
    <thead><tr><th scope="col"><span class="sr">${t("What")}</span></th><th scope="col">${t("This decision")}</th><th scope="col">${t("The other")}</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr class=${row.differs ? "differs" : ""}><th scope="row" dir="auto">${t(row.what)}</th>${row.values.map((value) => html`<td dir="auto">${value || "–"}</td>`)}</tr>`)}</tbody></table>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${t("Two decisions side by side")}>${part(t("The decisions"), found.rows)}${part(t("Positions"), found.positions)}</div>`;
}
