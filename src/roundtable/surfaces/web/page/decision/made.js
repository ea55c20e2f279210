// How this was made: everything that a decision does not need and a sceptic wants.
import { useRef } from "../vendor/hooks.js";
import { allowed, count, lasted, spending } from "../format.js";
import { Icon } from "../icons.js";
import { Notes, Parts, useModal, Words } from "../parts.js";
import { plainName } from "../procedures.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { sureness } from "./confidence.js";

/** A window at the side. Escape and a click beside it close it. */
function Drawer({ title, onClose, children }) {
  const place = useRef(null);
  useModal(place);
  const cancelled = (event) => {
    event.preventDefault();
    onClose();
  };
  const clicked = (event) => {
    if (event.target === place.current) onClose();
    // What a link in here leads to is on the page below.
    else if (event.target.closest('a[href^="#"]')) onClose();
  };
  return html`<dialog class="drawer" ref=${place} aria-labelledby="made-head" onCancel=${cancelled} onClick=${clicked}>
    <header><h2 id="made-head">${title}</h2><button type="button" class="quiet icon" aria-label=${t("Close")} onClick=${onClose}><${Icon} name="close" /></button></header>
    ${children}
  </dialog>`;
}

function Part({ id, title, children }) {
  return html`<section id=${id} aria-labelledby=${`${id}-head`}><h3 id=${`${id}-head`}>${title}</h3>${children}</section>`;
}

/** A sentence, and what else there is line by line. */
function Lines({ text }) {
  const [first, ...more] = text.split("\n").map((each) => each.replace(/^\s*[-•*]\s+/, "").trim()).filter(Boolean);
  return html`<p class="s"><bdi>${first}</bdi></p>${more.length > 0 && html`<ul class="listed">${more.map((each) => html`<li dir="auto">${each}</li>`)}</ul>`}`;
}

export function Made({ derived, state, turns, onClose }) {
  const { made, confidence, cause } = derived.decision;
  const { procedure } = made;
  return html`<${Drawer} title=${t("How this was made")} onClose=${onClose}>
    <${Part} id="procedure" title=${t("Procedure")}><p class="s"><b>${plainName(procedure.name)}</b> <span class="soft">(${procedure.name})</span>${procedure.about && html`<br /><bdi>${procedure.about}</bdi>`}</p>
      ${state.extraRounds > 0 && html`<p class="s">${n(state.extraRounds, "{n} round was added while it went on.", "{n} rounds were added while it went on.")}</p>`}<//>
    ${cause && html`<${Part} id="ended" title=${t("Why it ended")}><p class="s"><bdi>${`${cause.text} ${cause.more || ""}`.trim()}</bdi></p>${cause.remedy && html`<p class="s soft"><bdi>${cause.remedy}</bdi></p>`}<//>`}
    <${Part} id="spent" title=${t("Time and cost")}><${Spent} made=${made} budget=${state.budget} /><//>
    <${Part} id="models" title=${t("Who spoke with which model")}><dl class="facts">${made.models.map((each) => html`<dt><bdi>${each.name}</bdi></dt><dd><bdi>${each.models.join(" → ") || t("a person")}</bdi>${each.note && html` <span class="soft">${each.note}</span>`}</dd>`)}</dl><//>
    <${Part} id="sureness" title=${t("How the confidence came about")}><p class="s"><b>${sureness(confidence)}.</b> <bdi>${confidence.reason}</bdi></p>${confidence.meaning && html`<p class="s soft"><bdi>${confidence.meaning}</bdi></p>`}<//>
    ${(made.talk || derived.changes.length > 0) && html`<${Part} id="talk-changed" title=${t("What talk changed")}>${made.talk && html`<${Lines} text=${made.talk} />`}<${Parts} parts=${derived.changes.map((part) => ({ ...part, folded: true, caption: part.caption || t("Every change") }))} turns=${turns} /><//>`}
    ${made.checks.length > 0 && html`<${Part} id="checks" title=${t("Checks")}><ul class="s listed">${made.checks.map((text) => html`<li dir="auto">${text}</li>`)}</ul><//>`}
    ${made.notes.length > 0 && html`<${Part} id="notes" title=${t("Notes")}><${Notes} notes=${made.notes} /><//>`}
    ${made.sources.length > 0 && html`<${Part} id="sources" title=${t("Sources")}><ul class="s listed">${made.sources.map((text) => html`<li dir="auto">${text}</li>`)}</ul><//>`}
    ${made.delivered_html && html`<${Part} id="delivered" title=${t("In the words of the procedure")}><details class="fold"><summary>${t("Read it")}</summary><${Words} checked markup=${made.delivered_html} under=${3} /></details><//>`}
    ${derived.costs.length > 0 && html`<${Part} id="costs" title=${t("Every call and its cost")}><${Parts} parts=${derived.costs} turns=${turns} /><//>`}
    <${Part} id="ids" title=${t("For support")}><dl class="facts"><dt>${t("Discussion")}</dt><dd><bdi>${made.ids.discussion}</bdi></dd><dt>${t("Program")}</dt><dd><bdi>${made.ids.version}</bdi></dd></dl><//>
  <//>`;
}

/** What nobody knows is never zero. */
function Spent({ made, budget }) {
  const limits = allowed(budget);
  const calls = made.calls_of_unknown_cost;
  return html`<dl class="facts num">
    <dt>${t("Time")}</dt><dd>${made.seconds === null ? t("unknown") : lasted(made.seconds)}</dd>
    <dt>${t("Calls")}</dt><dd>${count(made.calls)}</dd>
    <dt>${t("Tokens")}</dt><dd>${t("{in} in, {out} out", { in: count(made.input_tokens), out: count(made.output_tokens) })}</dd>
    <dt>${t("Cost")}</dt><dd>${spending(made)}${calls > 0 && ` (${n(calls, "{n} call of unknown cost", "{n} calls of unknown cost")})`}</dd>
    ${limits && html`<dt>${t("Limit")}</dt><dd>${limits}</dd>`}
  </dl>`;
}
