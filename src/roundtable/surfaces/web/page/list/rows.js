// A decision in one row: what was asked, the answer, the vote, how sure, what it cost, when.
import { VoteBar } from "../decision/votes.js";
import { ago, bare, plainly, spending, whole } from "../format.js";
import { Icon } from "../icons.js";
import { languageOf } from "../parts.js";
import { finding } from "../reading/found.js";
import { nowSentence } from "../live/words.js";
import { seatKept } from "../seats.js";
import { html, memo } from "../ui.js";
import { later, n, t } from "../words.js";

const SURE = { high: later("High"), medium: later("Medium"), low: later("Low"), none: later("None") };
const OUTCOMES = { good: later("Turned out well"), mixed: later("Turned out mixed"), bad: later("Turned out badly") };
/** How a state looks; the others are told by vote and answer. */
const CHIPS = { turn: "warn", live: "", paused: "plain", interrupted: "bad", failed: "bad", stopped: "plain", none: "plain" };
const VOTED = new Set(["decided", "split", "hollow", "uncounted", "demonstration"]);

/** The row that can be shown before it was derived. */
export function plainRow(found) {
  const kinds = { running: "live", interrupted: "interrupted", set_aside: "interrupted", failed: "failed", stopped: "stopped", concluded: "other" };
  return { kind: kinds[found.status] || "other", state: "", question: found.topic, whole: "", answer: "", vote: null, others: [], confidence: { word: "none" }, cost_usd: undefined, dissent: false, follows: "", now: null, round: 0, speaking: 0, waits_for: [] };
}

function headline(row) {
  if (row.kind === "turn") return t("Round {round}: {names} to speak", { round: row.round || 1, names: row.waits_for.join(", ") });
  if (row.kind === "live") return nowSentence(row.now);
  return plainly(row.kind, bare(row.answer));
}

function Voted({ row }) {
  if (row.kind in CHIPS) {
    return html`<span class=${`chip state ${CHIPS[row.kind]}`}>${row.kind === "live" && html`<i class="dot" aria-hidden="true"></i>`}${row.state ? t(row.state) : t("Live")}</span>`;
  }
  if (!row.vote || !VOTED.has(row.kind)) return html`<span class="soft">${t(row.state)}</span>`;
  const { absent } = row.vote.counts;
  const other = row.others.find((each) => each.figure);
  return html`<p><b><bdi dir="ltr">${row.vote.figure}</bdi></b> <span class="state sr">${t(row.state)}</span></p><${VoteBar} vote=${row.vote} mini />
    <p class="xs soft">${row.kind !== "decided" ? t(row.state) : absent ? n(absent, "{n} absent", "{n} absent") : other ? t("{figure} on a second vote", { figure: other.figure }) : ""}</p>`;
}

function Sure({ row }) {
  const { word, low, high } = row.confidence;
  if (!VOTED.has(row.kind) && row.kind !== "values") return null;
  return html`<p>${word === "none" ? html`<span class="soft">${t(SURE.none)}</span>` : html`<b>${t(SURE[word])}</b>`}</p>
    ${low !== null && low !== undefined && html`<p class="xs soft">${Math.round(low * 100)}–${Math.round(high * 100)} %</p>`}`;
}

export const Row = memo(function Row({ found, row, nested, words = "", onRun, onDelete, at }) {
  const question = row.question || found.topic;
  const told = headline(row);
  // Whose turn it is comes to the form of the seat that this browser has.
  const page = (row.kind === "turn" && seatKept(found.discussion_id)) || new URL(found.url, location.href).pathname;
  const link = html`<a href=${`${page}${words && `#${finding(words)}`}`} dir="auto">${told || question}</a>`;
  return html`<li class=${`row is-${row.kind}${nested ? " nested" : ""}`}>
    <div class="asked">
      ${told ? html`<p class="ask" dir="auto" lang=${languageOf(question)} title=${row.whole || undefined}>${nested && html`<span class="follow">${t("Follow-up")}</span> `}${question}</p>` : nested && html`<p class="ask">${t("Follow-up")}</p>`}
      <h2 lang=${languageOf(told || question)}>${link}</h2>
      ${(row.kind === "demonstration" || found.outcome) && html`<p class="tags">${row.kind === "demonstration" && html`<span class="chip plain">${t("Demonstration model: not for real decisions")}</span>`}
        ${found.outcome && html`<span class="chip plain">${t(OUTCOMES[found.outcome])}</span>`}</p>`}
    </div>
    <div class="v"><${Voted} row=${row} />${row.kind === "interrupted" && html`<button type="button" class="btn" aria-label=${t("Go on with: {question}", { question: question.slice(0, 80) })} onClick=${() => onRun(found.discussion_id)}>${t("Go on")}</button>`}</div>
    <div class="cf"><${Sure} row=${row} /></div>
    <div class="c2 num">${row.cost_usd === undefined ? "" : row.cost_known === "unknown" ? html`<span class="soft">${spending(row)}</span>` : spending(row)}</div>
    <div class="when soft"><time datetime=${found.updated_at} title=${whole(found.updated_at)} data-at=${at}>${ago(found.updated_at)}</time></div>
    <div class="doing"><button type="button" class="quiet icon btn" aria-label=${t("Delete: {question}", { question: question.slice(0, 80) })} title=${t("Delete")} onClick=${() => onDelete(found)}><${Icon} name="remove" /></button></div>
  </li>`;
});
