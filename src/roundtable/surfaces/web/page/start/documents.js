// The question, and the documents that come with it. Text is read in the browser, other documents by
// the program that serves this page, which keeps nothing of them before the start.
import { useRef, useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { count } from "../format.js";
import { Icon } from "../icons.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";

const KINDS = {
  doc: "Word", odt: "OpenDocument", xls: "Excel", ppt: "PowerPoint",
  png: "picture", jpg: "picture", jpeg: "picture", gif: "picture", webp: "picture", zip: "archive", gz: "archive",
};
const READ_FOR_US = new Set(["pdf", "docx", "pptx", "xlsx", "html", "htm"]);
/** What JSON adds around the words of a request, at most. */
const AROUND = 20_000;

/** Documents of which something is said, at most. */
const MOST_SAID = 200;

/** How many bytes something takes on its way. */
const bytes = (text) => new Blob([JSON.stringify(text)]).size;

/** Its bytes as JSON can carry them. */
const encoded = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});

/** A document that the program reads, or of which it finds out why it cannot be read: the discussion says so by
 * the receipt. Of one that is too large only the size is sent. */
async function readForUs(file, limits) {
  const sent = file.size > limits.upload ? { data: "", size: file.size } : { data: await encoded(file) };
  try {
    const { source, text, lines, receipt } = await post("/api/documents", { name: file.name, ...sent });
    return { name: file.name, source, text, lines, receipt, bytes: bytes(text) };
  } catch (refused) {
    const { receipt } = refused.body || {};
    return { name: file.name, problem: [refused.message, refused.remedy].filter(Boolean).join(" "), receipt, lost: !receipt };
  }
}

/** What this page knows of a file that it cannot read itself; "" if the program says it better. */
function unreadable(file, ending, text, limits) {
  if (file.size > limits.upload) return t("It is too large: at most {size} MB fit. Add an excerpt.", { size: (limits.upload / 1_000_000).toFixed(0) });
  if (KINDS[ending]) return t("This kind of file cannot be read. Save it as PDF, Word, text or Markdown and add that.");
  if (READ_FOR_US.has(ending)) return "";
  if (file.size > limits.request) return t("It is too large: at most {size} MB fit. Add an excerpt.", { size: (limits.request / 1_048_576).toFixed(0) });
  if (text === null || text.includes("\0")) return t("It is no text in UTF-8. Save it as text and add that.");
  if (!text.trim()) return t("It is empty.");
  if (text.length > limits.document) return t("It has {n} characters; at most {most} fit. Add an excerpt.", { n: count(text.length), most: count(limits.document) });
  return "";
}

/** The document as it will be sent, or why it cannot be. */
async function read(file, limits) {
  const ending = file.name.split(".").pop().toLowerCase();
  let text = null;
  if (!KINDS[ending] && !READ_FOR_US.has(ending) && file.size <= limits.request) {
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      text = null;
    }
  }
  const problem = unreadable(file, ending, text, limits);
  if (text !== null && !problem) return { name: file.name, source: file.name, text, bytes: bytes(text) };
  const found = await readForUs(file, limits);
  return found.problem && problem ? { ...found, problem } : found;
}

/** Documents by what can be sent: the first that fit, and whoever would be too much. */
export function fitting(documents, topic, limits) {
  let left = limits.request - AROUND - bytes(topic) - documents.reduce((sum, each) => sum + bytes([each.name, each.receipt || ""]), 0);
  let places = limits.documents;
  return documents.map((each) => {
    if (each.problem || each.reading) return each;
    if (places <= 0) return { ...each, lost: true, problem: t("At most {n} documents fit.", { n: limits.documents }) };
    if (each.bytes > left) return { ...each, lost: true, problem: t("Together they are too large: at most {size} MB fit. Remove some, or add excerpts.", { size: (limits.request / 1_048_576).toFixed(0) }) };
    left -= each.bytes;
    places -= 1;
    return each;
  });
}

export function Question({ topic, setTopic, documents, setDocuments, limits }) {
  const [over, setOver] = useState(false);
  const chooser = useRef(null);
  const add = async (files) => {
    const chosen = [...files];
    const names = new Set(chosen.map((each) => each.name));
    setDocuments((before) => [...before.filter((old) => !names.has(old.name)), ...chosen.map((each) => ({ name: each.name, reading: true }))]);
    for (const each of chosen) {
      const found = await read(each, limits);
      // Unless it was removed meanwhile.
      setDocuments((before) => before.map((old) => (old.name === found.name && old.reading ? found : old)));
    }
  };
  const carries = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  const dragged = (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    setOver(true);
  };
  const dropped = (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer.files);
  };
  const shown = fitting(documents, topic, limits);
  const long = topic.length > limits.question;
  return html`<h1><label for="question">${t("What do you want to decide?")}</label></h1>
    <div class=${over ? "box over" : "box"} onDragEnter=${dragged} onDragOver=${dragged} onDragLeave=${() => setOver(false)} onDrop=${dropped}>
      <textarea id="question" rows="4" dir="auto" autofocus required aria-describedby="question-help" aria-invalid=${long ? "true" : undefined} value=${topic} placeholder=${t("Should we …? Say what it is about, and what limits you: time, money, people.")} onInput=${(event) => setTopic(event.target.value)}></textarea>
      ${shown.length > 0 && html`<ul class="documents" aria-label=${t("Documents")}>${shown.map((each, place) => html`<li key=${each.name} class=${each.problem ? "refused" : undefined}>
        <${Icon} name=${each.problem ? "flag" : "document"} />
        <span class="what"><b dir="auto">${each.name}</b> ${each.problem
          ? html`<span class="why">${each.problem}</span>`
          : each.reading ? html`<span class="soft">${t("It is being read …")}</span>`
          : html`<span class="soft">${n(each.text.length, "{n} character", "{n} characters")}${(each.lines || []).map((line) => `; ${line}`)}</span>`}</span>
        <button type="button" class="quiet icon" aria-label=${t("Remove {name}", { name: each.name })} onClick=${() => setDocuments((before) => before.filter((_, at) => at !== place))}><${Icon} name="close" /></button></li>`)}</ul>`}
      <div class="drop"><${Icon} name="document" /><span>${t("Drop documents here, or")} <button type="button" class="link" onClick=${() => chooser.current.click()}>${t("choose files")}</button></span>
        <input ref=${chooser} type="file" multiple hidden aria-label=${t("Documents")} onChange=${(event) => {
          add(event.target.files);
          event.target.value = "";
        }} /></div>
    </div>
    <p id="question-help" class=${long ? "too-long" : "sr"} role=${long ? "alert" : undefined}>${long
      ? t("The question has {n} characters; at most {most} fit. Put the material into a document.", { n: count(topic.length), most: count(limits.question) })
      : t("Everybody at the table reads the question and the documents.")}</p>`;
}

/** What goes with the question: the documents, what was found out of them, and the names of those that do not fit. */
export function contextOf(documents, topic, limits) {
  const all = fitting(documents, topic, limits).filter((each) => !each.reading);
  const parts = {
    context: all.filter((each) => !each.problem).map((each) => ({ source: each.source, text: each.text })),
    receipts: all.filter((each) => !each.lost && each.receipt).map((each) => each.receipt).slice(0, MOST_SAID),
    left_out: all.filter((each) => each.lost).map((each) => each.name).slice(0, MOST_SAID),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, found]) => found.length));
}
