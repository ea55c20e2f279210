// Before the start: how long it takes, what it costs, where it stops, what to know; and the button.
import { useState } from "../vendor/hooks.js";
import { allowed, count, forPeople, money } from "../format.js";
import { Icon } from "../icons.js";
import { Failure } from "../parts.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";

function lasting(seconds) {
  if (!seconds) return t("At your pace");
  const [low, high] = seconds;
  if (high < 90) return t("{low} to {high} s", { low: Math.round(low), high: Math.max(1, Math.round(high)) });
  const least = Math.max(1, Math.round(low / 60));
  const most = Math.round(high / 60);
  return least === most ? t("{n} min", { n: most }) : t("{low} to {high} min", { low: least, high: most });
}

function costing(cost) {
  if (!cost) return t("unknown");
  if (cost[1] === 0) return t("nothing");
  const [low, high] = cost.map(money);
  return low === high ? low : t("{low} to {high}", { low, high });
}

export function Before({ estimate, secrets, setSecrets, limit, setLimit, calls, setCalls, error, busy, ready, onKeys, noKey, hosted }) {
  const { value } = estimate;
  const [limiting, setLimiting] = useState(false);
  const secret = (each) => Boolean(each.body && each.body.code === "secrets");
  const errors = [error, estimate.error].filter(Boolean);
  const found = errors.find(secret);
  // What the secrets' own box says is said once.
  const failed = errors.find((each) => !secret(each));
  return html`<aside class="sum" aria-label=${t("Cost and start")}>
    <h2>${t("Before you start")}</h2>
    <div role="status" aria-busy=${estimate.busy}><dl class="num estimate">
      <div><dt>${t("Time")}</dt><dd class="big">${value ? lasting(value.seconds) : "–"}</dd></div>
      <div><dt>${t("Cost")}</dt><dd class="big">${value ? costing(value.cost_usd) : "–"}</dd></div>
      <div><dt>${t("Seats")}</dt><dd>${value ? (hosted ? t("the host chooses") : count(value.seats.filter((each) => !each.host).length)) : "–"}</dd></div>
      <div><dt>${t("Calls")}</dt><dd>${value ? t("about {n}", { n: count(value.calls) }) : "–"}</dd></div>
      <div><dt>${t("Stops at")}</dt><dd>${value ? allowed(value.budget) || t("no limit") : "–"} <button type="button" class="link" aria-expanded=${limiting} onClick=${() => setLimiting(!limiting)}>${limiting ? t("done") : t("change")}</button></dd></div>
    </dl></div>
    ${limiting && html`<div class="limits"><label>${t("At most, in dollars")}<input type="number" min="0" step="0.01" inputmode="decimal" value=${limit} onInput=${(event) => setLimit(event.target.value)} /></label>
      <label>${t("At most, calls")}<input type="number" min="1" step="1" value=${calls} onInput=${(event) => setCalls(event.target.value)} /></label></div>`}
    ${value && value.over_budget.map((each) => html`<p class="alert" role="note">${t("This may exceed the limits ({what}).", { what: each })}</p>`)}
    ${(found || secrets) && html`<${Secrets} found=${found ? found.body.found || [] : []} secrets=${secrets} setSecrets=${setSecrets} />`}
    <${Failure} error=${failed} />
    <div class="fix"><p class="xs soft">${value && `${lasting(value.seconds)}, ${costing(value.cost_usd)}`}</p>
      <button type="submit" class="main go" disabled=${busy || !ready}>${busy ? t("Opening") : t("Start the discussion")}</button></div>
    ${noKey && html`<p class="hint"><${Icon} name="flag" /><span>${t("Only the demonstration model is here. It shows how the program works, and cannot judge.")} <button type="button" class="link" onClick=${onKeys}>${t("Add a key")}</button></span></p>`}
    ${value && value.notes.length > 0 && html`<${Known} notes=${noKey ? value.notes.filter((each) => !each.code.startsWith("demonstration")) : value.notes} onKeys=${onKeys} />`}
    ${!noKey && html`<p class="s"><button type="button" class="link" onClick=${onKeys}>${t("Keys of providers")}</button></p>`}
  </aside>`;
}

/** Likely secrets: what was found, and what is to become of it. */
function Secrets({ found, secrets, setSecrets }) {
  const choice = (value, text) => html`<label class="choice"><input type="radio" name="secrets" checked=${secrets === value} onChange=${() => setSecrets(value)} /> ${text}</label>`;
  return html`<fieldset class="alert secrets"><legend>${t("This seems to contain secrets")}</legend>
    ${found.length > 0 && html`<p role="alert">${t("Nothing was sent. Found:")}</p><ul>${found.map((each) => html`<li dir="auto">${each}</li>`)}</ul>`}
    ${choice("redact", t("Take them out and send the rest"))}
    ${choice("send", t("They are no secrets: send everything"))}
    ${secrets ? choice("", t("Send nothing")) : html`<p class="soft s">${t("Or take them out of the question and the documents yourself.")}</p>`}
  </fieldset>`;
}

/** What to know, the first at once. */
function Known({ notes, onKeys }) {
  const [first, ...others] = notes;
  if (!first) return null;
  const family = /famil|provider|key/i.test(`${first.code} ${first.remedy}`);
  return html`<p class="hint"><${Icon} name="flag" /><span><span dir="auto">${first.text}</span> ${family
    ? html`<button type="button" class="link" onClick=${onKeys}>${t("Add a key")}</button>` : html`<span class="soft" dir="auto">${forPeople(first.remedy)}</span>`}</span></p>
    ${others.length > 0 && html`<details class="opt"><summary>${n(others.length, "{n} more thing to know", "{n} more things to know")}</summary>
      <ul class="known">${others.map((each) => html`<li><p dir="auto">${each.text}</p>${forPeople(each.remedy) && html`<p class="soft" dir="auto">${forPeople(each.remedy)}</p>`}</li>`)}</ul></details>`}`;
}
