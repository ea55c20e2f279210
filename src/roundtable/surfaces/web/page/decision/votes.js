// A vote as a bar: one piece for each seat, in the order in which the program puts them. The same bar
// stands in the band of a decision, small in a list, and beside a discussion that goes on.
import { initials } from "../format.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";

const LOOKS = ["other", "other second", "other third"];
const OUT = new Set(["abstains", "undeclared", "absent", "none"]);
/** Characters of a name that fit into a piece. */
const SHORT = 20;

/** How each option looks: the delivered one has the accent, the others are neutral, told apart by
 * their pattern. */
function looks(vote) {
  const found = {};
  let others = 0;
  for (const option of vote.options) {
    if (option.delivered) found[option.id] = "";
    else if (option.count) found[option.id] = LOOKS[Math.min(others++, LOOKS.length - 1)];
  }
  return found;
}

function look(piece, known) {
  if (OUT.has(piece.side)) return "out";
  if (piece.side === "any") return "any";
  if (piece.side === "own") return "other own";
  if (piece.side === "demonstration") return "other";
  return known[piece.option] === undefined ? (piece.side === "answer" ? "" : "other") : known[piece.option];
}

/** A name for where there is little room: as many of its first words as fit. */
export function shortName(name) {
  if (name.length <= SHORT) return name;
  const cut = name.lastIndexOf(" ", SHORT);
  return cut > 4 ? name.slice(0, cut) : name;
}

export function VoteBar({ vote, mini = false }) {
  const known = looks(vote);
  let before = null;
  return html`<div class=${mini ? "votes mini" : "votes"} role="img" aria-label=${vote.told}>
    ${vote.pieces.map((piece) => {
      const kind = look(piece, known);
      const group = `${kind} ${piece.option}`;
      const apart = before !== null && before !== group;
      before = group;
      const title = [piece.name, piece.held].filter(Boolean).join(": ");
      return html`<i class=${`${kind}${apart ? " gap" : ""}${piece.gave_in ? " gave-in" : ""}`} title=${title}><em>${initials(piece.name)}</em><b>${shortName(piece.name)}</b></i>`;
    })}
  </div>`;
}

/** What the pieces mean, with counts. Whoever is absent is always counted. */
export function VoteKey({ vote }) {
  const known = looks(vote);
  const shown = vote.options.filter((option) => option.delivered || option.count);
  const { counts } = vote;
  const rest = [
    ["other own", counts.own, "An answer of its own"],
    ["any", counts.any, "Any of them"],
    ["out", counts.abstains, "Abstained"],
    ["out", counts.undeclared, "Chose nothing"],
    ["other", counts.demonstration, "Demonstration"],
  ];
  return html`<p class="key">
    ${shown.map((option) => html`<span class=${known[option.id] || undefined} title=${option.text}>${option.delivered
      ? html`<b><bdi>${option.label}</bdi> ${option.count}</b>`
      : html`<bdi>${option.label}</bdi> ${option.count}`}</span>`)}
    ${shown.length === 1 && vote.settled && html`<span class="other">${t("Other")} 0</span>`}
    ${rest.map(([kind, number, name]) => number > 0 && html`<span class=${kind}>${t(name)} ${number}</span>`)}
    <span class="out">${t("Absent")} ${counts.absent}</span>
  </p>`;
}

/** A vote with what was voted on, the figures, and how it stood before they heard each other. */
export function Vote({ vote }) {
  const title = vote.title === "On the question" ? t(vote.title) : vote.title;
  return html`<div class="vote">
    <p class="vote-h"><span class="on" title=${title}><bdi>${title}</bdi></span><b>${vote.figure}</b></p>
    <${VoteBar} vote=${vote} />
    <${VoteKey} vote=${vote} />
    ${vote.before && html`<p class="pre">${t("Before they heard each other: {figures}", { figures: vote.before })}</p>`}
  </div>`;
}

/** That there are more votes than the band shows. */
export function MoreVotes({ number }) {
  return number > 0 ? html`<a class="more-votes" href="#votes">${n(number, "{n} more vote", "{n} more votes")}</a>` : null;
}
