// Who went from which position to which: at the start what each held before it heard the others, at
// the end what it holds now. A level line is somebody who kept a position.
import { seatClass } from "../parts.js";
import { initials } from "../format.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { t } from "../words.js";

const WIDTH = 128;
const DISC = 22;
const DOT = 9;
const ROW = 38;
const TOP = 4;

/** The place of every line's ends: rows as high as those who begin or end in them need. */
function placed(slope) {
  const rows = [...slope.options];
  const lost = slope.lines.some((line) => !rows.some((row) => row.id === line.from));
  const silent = slope.lines.some((line) => !rows.some((row) => row.id === line.to));
  if (lost || silent) rows.push({ id: "", label: "", count: slope.lines.filter((line) => !rows.some((row) => row.id === line.to)).length, delivered: false });
  const at = (id) => (slope.options.some((row) => row.id === id) ? id : "");
  let top = TOP;
  const starts = {};
  const ends = {};
  const shown = rows.map((row) => {
    const from = slope.lines.filter((line) => at(line.from) === row.id);
    const to = slope.lines.filter((line) => at(line.to) === row.id);
    const height = Math.max(ROW, from.length * (DISC + 2) + 8, to.length * DOT + 8);
    const middle = top + height / 2;
    from.forEach((line, k) => { starts[line.participant] = middle + (k - (from.length - 1) / 2) * (DISC + 2); });
    // Who came from above ends above: lines cross no more than they must.
    [...to].sort((a, b) => (starts[a.participant] ?? middle) - (starts[b.participant] ?? middle))
      .forEach((line, k) => { ends[line.participant] = middle + (k - (to.length - 1) / 2) * DOT; });
    const found = { ...row, top, height };
    top += height;
    return found;
  });
  return { rows: shown, starts, ends, height: top + TOP };
}

export const Slope = memo(function Slope({ slope, state }) {
  if (!slope || !slope.lines.length || !slope.options.length) return null;
  const { rows, starts, ends, height } = placed(slope);
  const words = (id) => (slope.options.find((option) => option.id === id) || { label: t("no vote") }).label;
  const told = slope.lines.map((line) => (line.from === line.to
    ? t("{name} kept: {position}", { name: person(state, line.participant).name, position: words(line.to) })
    : t("{name} went from {before} to {after}", { name: person(state, line.participant).name, before: words(line.from), after: words(line.to) }))).join(". ");
  return html`<figure class="slope">
    <figcaption><span>${t("At first")}</span><span>${slope.title ? t("In the end: {title}", { title: slope.title }) : t("In the end")}</span></figcaption>
    <div class="field" style=${{ height: `${height}px` }}>
      <svg viewBox=${`0 0 ${WIDTH} ${height}`} width=${WIDTH} height=${height} role="img" aria-label=${told}>
        ${slope.lines.map((line) => {
          const [a, b] = [starts[line.participant], ends[line.participant]];
          return html`<path class=${`ln ${seatClass(person(state, line.participant))}`} d=${`M24 ${a}C74 ${a} 70 ${b} 116 ${b}`} />`;
        })}
        ${slope.lines.map((line) => {
          const who = person(state, line.participant);
          return html`<g class=${seatClass(who)}><circle class="start" cx=12 cy=${starts[line.participant]} r=${DISC / 2} /><text x=12 y=${starts[line.participant] + 3.5}>${initials(who.name)}</text>
            <circle class="stop" cx=119 cy=${ends[line.participant]} r="4" /></g>`;
        })}
      </svg>
      <ul aria-hidden="true">${rows.map((row) => html`<li class=${row.delivered ? "win" : row.count ? "" : "gone"} style=${{ top: `${row.top}px`, height: `${row.height}px` }}><span dir="auto">${row.label || t("No vote")}</span><b>${row.count}</b></li>`)}</ul>
    </div>
  </figure>`;
});

