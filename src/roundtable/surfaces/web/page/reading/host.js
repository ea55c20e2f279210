// What the host did in a round, and what happened to the table: not what the table said.
import { count, titled } from "../format.js";
import { Time } from "../parts.js";
import { html, memo } from "../ui.js";
import { n, t } from "../words.js";
import { useFold } from "./folds.js";
import { Speech } from "./speech.js";

/** Whoever chose the seats, and assumed what nobody had said. */
const CASTING = "casting";
const ACTS = {
  seated: (act) => [act.joined.length ? t("{names} joined the table", { names: act.joined.join(", ") }) : "", act.left.length ? t("{names} left the table", { names: act.left.join(", ") }) : ""].filter(Boolean).join("; "),
  workflow: (act) => n(act.rounds, "The table chose how to work, in {n} round", "The table chose how to work, in {n} rounds"),
  tabled: (act) => {
    const options = act.decisions.map((each) => each.options.map((option) => `“${option.text}”`).join(" / ")).join("; ");
    return act.given ? t("Put to the vote: {options}", { options }) : t("The host lists what differs: {options}", { options });
  },
  voted: (act, name) => (act.in_favour ? t("{name} voted to end", { name: name(act.participant) }) : t("{name} voted to go on", { name: name(act.participant) })),
  advanced: (act, name) => (act.absent.length
    ? t("{by} ended round {n}; absent: {names}", { by: act.by || t("Somebody"), n: act.round, names: act.absent.map(name).join(", ") })
    : t("{by} ended round {n}", { by: act.by || t("Somebody"), n: act.round })),
  searched: (act) => t("Searched the web with {provider}: “{query}”", act),
  "search failed": (act) => t("The web search ({provider}) failed: {message}", act),
  chosen: (act) => `${titled(act.question)}: ${act.answer}`,
  budget: (act) => t("A limit was reached: {detail}", act),
  paused: (act) => (act.reason ? t("Paused by {by}: {reason}", act) : t("Paused by {by}", act)),
  raised: (act) => t("The limits were set anew by {by}", act),
  resumed: (act) => t("Resumed by {by}", act),
  material: (act) => t("{by} put “{source}” on the table ({n} characters)", { ...act, by: act.by === CASTING ? t("The host") : act.by, n: count(act.characters) }),
  extended: (act) => n(act.rounds, "{by} gave the table {n} more round", "{by} gave the table {n} more rounds", { by: act.by }),
  stop: (act) => (act.reason ? t("{by} asked to stop: {reason}", act) : t("{by} asked to stop", act)),
};
/** What nobody who reads the round should miss. */
const VISIBLE = new Set(["paused", "stop", "budget", "raised", "search failed", "material", "seated"]);

const Act = memo(function Act({ item, nameOf }) {
  return html`<div class=${`act ${item.what.replace(" ", "-")}`} id=${item.id}>
    <p dir="auto">${ACTS[item.what](item, nameOf)} <${Time} at=${item.at} /></p>
    ${item.hits && item.hits.length > 0 && html`<details class="fold"><summary>${n(item.hits.length, "{n} result, unverified", "{n} results, unverified")}</summary>
      <ul>${item.hits.map((hit) => html`<li dir="auto">${hit.title || hit.url} <span class="faint">${hit.url}</span></li>`)}</ul></details>`}
  </div>`;
});

/** The place in `folds` of what the host did in a round. */
export function hostedId(place) {
  return `host/${place}`;
}

export function Hosted({ place, items, folds, people, named, nameOf }) {
  const id = hostedId(place);
  const open = Boolean(useFold(folds, id));
  const seen = items.filter((item) => place > 0 && item.kind === "act" && VISIBLE.has(item.what));
  // Where the host only chose or listed, that stands there as what happened, and there are no words.
  const rest = items.filter((item) => !seen.includes(item) && (item.kind !== "speech" || item.html || item.declared.length));
  const toggled = (event) => {
    if (event.target === event.currentTarget) folds.set([id], event.target.open ? "made" : "");
  };
  return html`${seen.map((item) => html`<${Act} key=${item.id} item=${item} nameOf=${nameOf} />`)}
    ${rest.length > 0 && html`<details class="hosted" open=${open} onToggle=${toggled}>
      <summary>${t("What the host did")} <span class="soft">${n(rest.length, "{n} step", "{n} steps")}</span></summary>
      ${open && rest.map((item) => (item.kind === "act"
        ? html`<${Act} key=${item.id} item=${item} nameOf=${nameOf} />`
        : html`<${Speech} key=${item.id} item=${item} who=${people(item.participant)} folds=${folds} named=${named} nameOf=${nameOf} />`))}
    </details>`}`;
}
