// The decision: what came out, and everything that it rests on.
import { useMemo } from "../vendor/hooks.js";
import { count, money, plural, short } from "../format.js";
import { Notes, Parts } from "../parts.js";
import { cost } from "../reducer.js";
import { html } from "../ui.js";
import { Balance, Camps, Pictures, Points, Talk, Votes } from "./positions.js";
import { Verdict } from "./verdict.js";
import { Spent } from "../live/table.js";

const NOTHING = {};

/** The first screen of a discussion that is over. */
export function Decision({ derived, state }) {
  return html`<${Verdict} verdict=${derived ? derived.verdict : null} closed=${state.closed} outcome=${state.outcome} coming=${Boolean(state.verdict)} />`;
}

/** What follows it. */
export function Sections({ derived, state }) {
  return derived ? html`<div class="findings"><${Findings} derived=${derived} state=${state} /></div>` : null;
}

export function Glance({ state, derived }) {
  const words = money(state.usage.priced_usd);
  const total = cost(state.usage);
  return html`
    <section aria-labelledby="spent-head"><h2 id="spent-head">Spent</h2>
      <${Spent} usage=${state.usage} words=${words} cost=${total === null ? `${words}+` : words} />
      <${Limits} budget=${state.budget} usage=${state.usage} />
    </section>
    ${derived && derived.points.length > 0 && html`<section aria-labelledby="stand-head"><h2 id="stand-head">Where they stand</h2>
      <${Balance} points=${derived.points} />
      <${Course} rounds=${derived.convergence} />
      <p class="small"><a href="#points">All ${plural(derived.points.length, "point")}</a></p>
    </section>`}
    ${derived && derived.notes.length > 0 && html`<section aria-labelledby="glance-notes"><h2 id="glance-notes">Good to know</h2>
      <p class="small"><a href="#notes">${plural(derived.notes.length, "note")}</a></p></section>`}`;
}

/** Agreement of the last rounds, in figures. */
function Course({ rounds }) {
  const known = rounds.filter((round) => round.agreement !== null).slice(-6);
  if (!known.length) return null;
  return html`<ol class="course" aria-label="Agreement by round">${known.map((round) => html`<li><span class="faint">Round ${round.round}</span>
    <meter min="0" max="1" value=${round.agreement} aria-label=${`Agreement in round ${round.round}`}></meter><span>${Math.round(round.agreement * 100)}%</span></li>`)}</ol>`;
}

function Limits({ budget, usage }) {
  const rows = [];
  if (budget.max_calls) rows.push(["calls", usage.calls, budget.max_calls, count]);
  if (budget.max_tokens) rows.push(["tokens", usage.input_tokens + usage.output_tokens, budget.max_tokens, short]);
  if (budget.max_cost_usd) rows.push(["cost", usage.priced_usd, budget.max_cost_usd, money]);
  if (!rows.length) return null;
  return html`<ul class="limits">${rows.map(([name, used, most, say]) => html`<li><span class="faint">of ${say(most)} ${name === "cost" ? "" : name}</span>
    <meter min="0" max=${most} high=${most * 0.8} value=${Math.min(used, most)} aria-label=${`Budget used: ${name}`}></meter></li>`)}</ul>`;
}

function Findings({ derived, state }) {
  // The turns that had an outcome when this was derived: what is newer is not named in it.
  const turns = useMemo(() => Object.fromEntries(state.rounds.flatMap((round) => round.items.map((item) => [item.id, true]))), [derived.changes, derived.costs, derived.ballots]);
  const rest = derived || NOTHING;
  return html`
    ${rest.points.length > 0 && html`<section id="points" aria-labelledby="points-head">
      <h2 id="points-head">Points and stances</h2>
      <${Camps} camps=${rest.camps} bridges=${rest.bridges} sat=${state.sat} host=${state.host} />
      <${Points} points=${rest.points} sat=${state.sat} host=${state.host} />
    </section>`}
    ${rest.pictures.length > 0 && html`<section id="pictures" aria-labelledby="pictures-head"><h2 id="pictures-head">Opinion map, agreement, convergence</h2><${Pictures} pictures=${rest.pictures} /></section>`}
    <${Votes} ballots=${rest.ballots} scores=${rest.scores} turns=${turns} />
    <${Talk} derived=${rest} turns=${turns} />
    ${rest.notes.length > 0 && html`<section id="notes" aria-labelledby="notes-head"><h2 id="notes-head">Notes</h2><${Notes} notes=${rest.notes} /></section>`}
    ${rest.costs.length > 0 && html`<section id="costs" aria-labelledby="costs-head"><h2 id="costs-head">Calls and costs</h2><${Parts} parts=${rest.costs} turns=${turns} /></section>`}`;
}
