// A vote as a bar: one piece for each seat, in the order in which the program puts them. The same bar
// stands in the band of a decision, small in a list, and beside a discussion that goes on.
import { initials } from "../format.js";
import { html } from "../ui.js";
import { later, n, t } from "../words.js";

const LOOKS = ["other", "other second", "other third", "other fourth", "other fifth"];
const OUT = new Set(["abstains", "undeclared", "absent", "none"]);
/** Characters of a name that fit into a piece, and into a small one. */
const WIDE = 20;
const NARROW = 13;

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
  if (piece.side === "own" || piece.side === "rejects") return "other own";
  if (piece.side === "demonstration") return "other";
  return known[piece.option] === undefined ? (piece.side === "answer" ? "" : "other") : known[piece.option];
}

/** As many of a name's first words as fit into so many characters; empty if that tells nothing. */
function firstWords(name, most) {
  if (name.length <= most) return name;
  const words = name.slice(0, most + 1).split(" ").slice(0, -1);
  while (words.length && words[words.length - 1].length < 4) words.pop();
  return words.join(" ");
}

/** Names for pieces that are wide and narrow. What is not one's own is no name. */
function namesOf(pieces) {
  const told = (most) => {
    const all = pieces.map((piece) => firstWords(piece.name, most));
    return all.map((name) => (all.filter((other) => other === name).length > 1 ? "" : name));
  };
  const [wide, narrow] = [told(WIDE), told(NARROW)];
  return pieces.map((_, at) => [wide[at], narrow[at]]);
}

export function VoteBar({ vote, mini = false }) {
  const known = looks(vote);
  const names = namesOf(vote.pieces);
  let before = null;
  return html`<div class=${mini ? "votes mini" : "votes"} role="img" aria-label=${vote.told}>
    ${vote.pieces.map((piece, at) => {
      const [wide, narrow] = names[at];
      const kind = look(piece, known);
      const group = `${kind} ${piece.option}`;
      const apart = before !== null && before !== group;
      before = group;
      const title = [piece.name, piece.held].filter(Boolean).join(": ");
      return html`<i class=${`${kind}${apart ? " gap" : ""}${piece.gave_in ? " gave-in" : ""}`} title=${title}><em>${initials(piece.name)}</em>${wide && html`<b>${wide}</b>`}${narrow && html`<b class="narrow">${narrow}</b>`}</i>`;
    })}
  </div>`;
}

/** What the pieces mean, with counts. Whoever is absent is always counted. */
export function VoteKey({ vote }) {
  const known = looks(vote);
  const shown = vote.options.filter((option) => option.delivered || option.count);
  const { counts } = vote;
  const rest = [
    ["other own", counts.own, later("An answer of its own")],
    ["other own", counts.rejects, later("Rejects it")],
    ["any", counts.any, later("Any of them")],
    ["out", counts.abstains, later("Abstained")],
    ["out", counts.undeclared, later("Not counted")],
    ["other", counts.demonstration, later("Demonstration")],
  ];
  return html`<p class="key">
    ${shown.map((option) => html`<span class=${known[option.id] || undefined} title=${option.text}>${option.delivered
      ? html`<b><bdi>${option.label}</bdi> <span class="count">${option.count}</span></b>`
      : html`<bdi>${option.label}</bdi> <span class="count">${option.count}</span>`}</span>`)}
    ${shown.length === 1 && vote.settled && html`<span class="other">${t("Other")} <span class="count">0</span></span>`}
    ${rest.map(([kind, number, name]) => number > 0 && html`<span class=${kind}>${t(name)} <span class="count">${number}</span></span>`)}
    <span class="out">${t("Absent")} <span class="count">${counts.absent}</span></span>
  </p>`;
}

/** How it stood before they heard each other: of what the figures are stands beside them. */
function stood(vote) {
  if (vote.unchanged) return t("Already so before they heard each other");
  const held = vote.before.map((each) => `${each.own ? t("An answer of its own") : each.label} ${each.count}`);
  return t("Before they heard each other: {figures}", { figures: held.join(", ") });
}

/** A vote with what was voted on, the figures, and how it stood before they heard each other. */
export function Vote({ vote }) {
  const title = vote.title === "On the question" ? t(vote.title) : vote.title;
  return html`<div class="vote">
    <p class="vote-h"><span class="on" title=${title}><bdi>${title}</bdi></span><b><bdi dir="ltr">${vote.figure}</bdi></b></p>
    <${VoteBar} vote=${vote} />
    <${VoteKey} vote=${vote} />
    ${vote.before.length > 0 && html`<p class="pre"><bdi>${stood(vote)}</bdi></p>`}
  </div>`;
}

/** That there are more votes than the band shows. */
export function MoreVotes({ number }) {
  return number > 0 ? html`<a class="more-votes" href="#votes"><bdi>${n(number, "{n} more vote", "{n} more votes")}</bdi></a>` : null;
}
