// All discussions of this installation, and the form that starts one. Only its owner sees this page.
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { get, post, remove } from "../api.js";
import { ago, titled, whole } from "../format.js";
import { listenToKeys } from "../keys.js";
import { Brand, Dialog, Failure, languageOf } from "../parts.js";
import { Start } from "../start/start.js";
import { nextTheme, ThemeButton } from "../themes.js";
import { html } from "../ui.js";

/** Milliseconds between two looks at what has changed. */
const LOOK = 4000;
const MOST = 200;

export function List() {
  const [rows, setRows] = useState(null);
  const [search, setSearch] = useState("");
  const [error, setError] = useState(null);
  const [deleting, setDeleting] = useState(null);
  const [starting, setStarting] = useState(location.hash === "#new");
  const [help, setHelp] = useState(false);
  const [examples, setExamples] = useState([]);
  const wanted = useRef("");
  wanted.current = search;
  const load = async () => {
    const words = wanted.current.trim();
    try {
      const { discussions } = await get(`/api/discussions?search=${encodeURIComponent(words)}&limit=${MOST}`);
      if (words !== wanted.current.trim()) return; // the reader has typed on
      setRows(discussions);
      setError(null);
    } catch (refused) {
      setError(refused);
    }
  };
  useEffect(() => {
    const timer = setTimeout(load, search ? 200 : 0);
    return () => clearTimeout(timer);
  }, [search]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) load();
    }, LOOK);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => listenToKeys({
    "/": () => document.getElementById("find").focus(),
    n: () => setStarting(true),
    t: () => nextTheme(),
    "?": () => setHelp(true),
  }), []);
  useEffect(() => {
    // They come with the program and never change; without them the page is whole, too.
    get("/api/examples").then((found) => setExamples(found.examples), () => {});
  }, []);
  useEffect(() => {
    document.title = "Discussions · Roundtable";
  }, []);
  const run = async (id) => {
    try {
      await post(`/api/discussions/${id}/run`);
      load();
    } catch (refused) {
      setError(refused);
    }
  };
  const none = rows && !rows.length && !search.trim();
  return html`
    <a class="skip" href="#list">Skip to the discussions</a>
    <header class="bar"><${Brand} href="/" />
      ${!starting && html`<button type="button" class="main" onClick=${() => setStarting(true)}>New discussion</button>`}
      <${ThemeButton} /><button type="button" class="quiet icon" aria-label="Keyboard and help" title="Keyboard and help" onClick=${() => setHelp(true)}>?</button></header>
    <main class="home" id="list" tabindex="-1">
      ${starting && html`<${Start} onClose=${() => setStarting(false)} />`}
      <header><h1>Discussions</h1>
        ${!none && html`<label class="search"><span class="sr">Search the questions</span><input type="search" id="find" placeholder="Search the questions" value=${search} onInput=${(event) => setSearch(event.target.value)} /></label>`}</header>
      <${Failure} error=${error} />
      ${rows === null && !error && html`<p class="faint" role="status">Opening…</p>`}
      ${none && !starting && html`<${Empty} onStart=${() => setStarting(true)} />`}
      ${rows && !rows.length && search.trim() && html`<p class="faint" role="status">No question holds “${search.trim()}”.</p>`}
      ${rows && rows.length > 0 && html`<ul class="discussions">${rows.map((row) => html`<${Row} key=${row.discussion_id} row=${row} onRun=${() => run(row.discussion_id)} onDelete=${() => setDeleting(row)} />`)}</ul>`}
      ${rows && rows.length >= MOST && html`<p class="faint small">The newest ${MOST}. Search to find older ones.</p>`}
      ${examples.length > 0 && rows && html`<${Examples} examples=${examples} open=${Boolean(none)} />`}
    </main>
    ${deleting && html`<${Delete} row=${deleting} onClose=${() => {
      setDeleting(null);
      load();
    }} />`}
    ${help && html`<${Dialog} title="Keyboard" onClose=${() => setHelp(false)}>
      <dl class="keys">${[["n", "new discussion"], ["/", "search"], ["t", "light, dark, system"], ["?", "this help"]].map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl><//>`}`;
}

function Row({ row, onRun, onDelete }) {
  return html`<li>
    <h2><a href=${new URL(row.url, location.href).pathname} dir="auto" lang=${languageOf(row.topic)}>${row.topic}</a></h2>
    <p class="facts"><span class=${`status ${row.status}`}>${row.status === "running" && html`<i class="live" aria-hidden="true"></i>`}${row.status}</span>
      <span>${titled(row.procedure.replace(/^custom:/, ""))}</span>
      ${row.outcome && html`<span>turned out ${row.outcome}</span>`}
      <time datetime=${row.updated_at} title=${whole(row.updated_at)}>${ago(row.updated_at)}</time></p>
    <div class="acts">
      ${row.status === "interrupted" && html`<button type="button" onClick=${onRun} aria-label=${`Go on with: ${row.topic.slice(0, 80)}`}>▶ Go on</button>`}
      <button type="button" class="quiet icon" aria-label=${`Delete: ${row.topic.slice(0, 80)}`} title="Delete" onClick=${onDelete}><svg viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true"><path d="M3.5 5.5h13M8 5.5V3.5h4v2M5.5 5.5l.8 11h7.4l.8-11M8.5 8.5v5M11.5 8.5v5" /></svg></button>
    </div>
  </li>`;
}

/** Recorded discussions: in view while there are none of one's own, folded away afterwards. */
function Examples({ examples, open }) {
  const origins = [...new Set(examples.map((each) => each.provenance))];
  return html`<details class="fold examples" open=${open} id="examples"><summary>Examples: ${examples.length} discussions, recorded</summary>
    ${origins.map((origin) => html`<p class="faint small">${origin}</p>
    <ul class="discussions">${examples.filter((each) => each.provenance === origin).map((each) => html`<li key=${each.name}>
      <h2><a href=${new URL(each.url, location.href).pathname} dir="auto" lang=${languageOf(each.question)}>${each.title}</a></h2>
      <p class="small" dir="auto" lang=${languageOf(each.answer)}>${each.answer}</p>
      <p class="facts"><span class="status">recorded</span><span>${titled(each.procedure)}</span><time datetime=${each.date}>${each.date}</time></p></li>`)}</ul>`)}</details>`;
}

function Empty({ onStart }) {
  return html`<div class="empty"><${Brand} />
    <h2>Nothing has been discussed here yet</h2>
    <p class="faint">Put a question to several experts. They answer alone, challenge each other, and a neutral host delivers a verdict that you can check.</p>
    <p><button type="button" class="main" onClick=${onStart}>Start the first discussion</button></p>
    <p class="faint small">or from a terminal: <code>roundtable "Should we …?"</code></p></div>`;
}

function Delete({ row, onClose }) {
  const [error, setError] = useState(null);
  const sure = async () => {
    try {
      await remove(`/api/discussions/${row.discussion_id}`);
      onClose();
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<${Dialog} title="Delete it for good?" onClose=${onClose}>
    <p dir="auto">${row.topic.slice(0, 300)}</p><p class="faint small">All its events go with it. This cannot be undone.</p>
    <${Failure} error=${error} />
    <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>Keep it</button><button type="button" class="danger" onClick=${sure}>Delete it</button></p>
  <//>`;
}
