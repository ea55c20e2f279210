// The verdict: what came out, how sure it is, who does not share it, and where it comes from.
import { titled } from "../format.js";
import { Alert, TurnLink, Words } from "../parts.js";
import { html, memo } from "../ui.js";

function Chips({ verdict }) {
  const chips = [];
  if (!verdict.meaningful) chips.push(["warn", "not meaningful: demonstration models"]);
  else if (verdict.confidence) chips.push([`confidence ${verdict.confidence}`, `${verdict.confidence} confidence`]);
  if (verdict.contradicts) chips.push(["warn", "contradicts the count"]);
  if (verdict.partial) chips.push(["warn", "partial"]);
  if (verdict.method === "extractive") chips.push(["", "an extract: no model wrote it"]);
  for (const flag of verdict.flags) chips.push(["warn", flag]);
  return html`<ul class="chips" aria-label="About this verdict">${chips.map(([kind, text]) => html`<li class=${`chip ${kind}`}>${text}</li>`)}</ul>`;
}

export const Verdict = memo(function Verdict({ verdict, closed, coming, outcome }) {
  if (!verdict && coming) {
    return html`<section class="verdict coming" id="verdict" aria-labelledby="verdict-head" tabindex="-1"><h2 id="verdict-head">Verdict</h2><p class="faint" role="status">Its quotations are being checked…</p></section>`;
  }
  if (!verdict) {
    if (!closed || closed.status === "concluded") return null;
    return html`<section class="verdict none" id="verdict" aria-labelledby="verdict-head" tabindex="-1">
      <h2 id="verdict-head">No verdict</h2>
      <${Alert} kind=${closed.status === "failed" ? "bad" : "warn"} title=${closed.detail || `It ended: ${titled(closed.stop_reason)}.`} remedy=${closed.remedy} />
    </section>`;
  }
  return html`<section class="verdict" id="verdict" aria-labelledby="verdict-head" tabindex="-1">
    <header><h2 id="verdict-head">Verdict</h2><${Chips} verdict=${verdict} /></header>
    ${closed && closed.status !== "concluded" && html`<${Alert} title=${closed.detail || titled(closed.stop_reason)} remedy=${closed.remedy} />`}
    ${outcome && html`<p class="outcome"><strong>It turned out ${outcome.outcome}.</strong> <span dir="auto">${outcome.note}</span></p>`}
    <p class="headline" dir="auto"><strong>${verdict.headline}</strong></p>
    ${verdict.findings.length > 0 && html`<${Alert} title="The check of this verdict found:" text=${verdict.findings.join(" · ")} />`}
    <${Words} checked markup=${verdict.html} kind="words answer" under=${2} />
    ${verdict.sure && html`<p class="faint small" dir="auto">Confidence: ${verdict.sure}</p>`}
    ${verdict.agreement && html`<div class="clause"><h3>Agreement</h3><${Words} checked markup=${verdict.agreement} /></div>`}
    ${verdict.dissent.length > 0 && html`<div class="clause"><h3>${verdict.unsettled ? "Positions" : "Dissent"}</h3>
      ${verdict.dissent.map((each) => html`<div class="dissent">
        <p class="holder"><strong><bdi>${each.name}</bdi></strong>${each.turn_id && html` <${TurnLink} turn=${each.turn_id} />`}</p>
        <${Words} checked markup=${each.position} />
        ${each.reason && html`<${Words} checked markup=${each.reason} kind="words reason" />`}
        ${each.quotation && html`<p class="faint" dir="auto">“${each.quotation}”</p>`}
      </div>`)}</div>`}
    ${verdict.gaps && html`<div class="clause"><h3>Gaps and risks</h3><${Words} checked markup=${verdict.gaps} /></div>`}
    ${verdict.cites.length > 0 && html`<p class="cited"><span class="faint">Rests on</span> ${verdict.cites.map((turn) => html`<${TurnLink} turn=${turn} /> `)}</p>`}
    ${verdict.sources.length > 0 && html`<details class="fold"><summary>Sources <span class="faint">${verdict.sources.length}</span></summary>
      <ul>${verdict.sources.map((source) => html`<li dir="auto">${source}</li>`)}</ul></details>`}
    ${verdict.delivered && html`<details class="fold"><summary>As the procedure delivers it</summary><${Words} checked markup=${verdict.delivered} under=${2} /></details>`}
    ${verdict.author && html`<p class="faint small">Written by <bdi>${verdict.author}</bdi>. ✓ marks quotations found word for word in a speech.</p>`}
  </section>`;
});
