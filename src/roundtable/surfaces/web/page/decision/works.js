// The texts, programs and plans that the table hands over: to read, to copy, to keep.
import { useState } from "../vendor/hooks.js";
import { Words } from "../parts.js";
import { html, memo } from "../ui.js";
import { t } from "../words.js";
import { Cite } from "./cite.js";

export const Works = memo(function Works({ works, state }) {
  if (!works.length) return null;
  return html`<section id="works" aria-labelledby="works-head" tabindex="-1"><h2 id="works-head">${t("What the table hands over")}</h2>
    ${works.map((work) => html`<${Work} key=${work.title + work.file} work=${work} state=${state} />`)}</section>`;
});

function Work({ work, state }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(work.text);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  const title = work.title || work.file || t("Text");
  return html`<article class="work"><header><h3 dir="auto">${title}</h3>
      ${work.author && html`<span class="soft s"><bdi>${work.author}</bdi></span>`}
      ${work.cite && html`<${Cite} cite=${work.cite} state=${state} />`}
      ${work.text && html`<span class="acts"><button type="button" onClick=${copy} aria-live="polite">${copied ? t("Copied") : t("Copy")}</button>
        <button type="button" onClick=${() => download(work, title)}>${t("Download")}</button></span>`}</header>
    ${work.html
      ? html`<div class="scroll read" tabindex="0" role="group" aria-label=${title}><${Words} checked markup=${work.html} under=${3} /></div>`
      : work.text && html`<pre class="scroll" dir="ltr" tabindex="0" role="group" aria-label=${title}>${work.text}</pre>`}
  </article>`;
}

/** To a file, without asking anybody for it. */
function download(work, title) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([work.text], { type: "text/plain;charset=utf-8" }));
  link.download = work.file ? work.file.split("/").pop() : `${title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60)}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
