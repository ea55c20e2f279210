// What is asked again and again, or later: shown under the decisions, and stopped there.
import { useCallback, useEffect, useState } from "../vendor/hooks.js";
import { get, post, remove } from "../api.js";
import { whole } from "../format.js";
import { Failure, languageOf } from "../parts.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";

/** Milliseconds between two looks at what is planned. */
const LOOK = 30_000;

export function Schedules() {
  const [found, setFound] = useState([]);
  const [error, setError] = useState(null);
  const load = useCallback(async () => {
    try {
      setFound((await get("/api/schedules")).schedules);
    } catch {
      // The list of decisions says it when the server is away.
    }
  }, []);
  useEffect(() => {
    load();
    const timer = setInterval(load, LOOK);
    return () => clearInterval(timer);
  }, [load]);
  const act = async (work) => {
    try {
      await work;
      setError(null);
    } catch (refused) {
      setError(refused);
    }
    load();
  };
  if (!found.length) return null;
  return html`<details class="examples" id="schedules"><summary>${n(found.length, "{n} question that is asked later or again", "{n} questions that are asked later or again")}</summary>
    <${Failure} error=${error} />
    <ul class="recorded">${found.map((each) => html`<li key=${each.id}>
      <p class="ask" dir="auto" lang=${languageOf(each.question)}>${each.question}</p>
      <p class="soft xs">${each.cron ? html`<code>${each.cron}</code> ${each.zone} · ` : ""}${each.next_due ? html`<time datetime=${each.next_due}>${t("next: {when}", { when: whole(each.next_due) })}</time>` : each.enabled ? t("over") : t("paused")}${each.why ? ` · ${each.why}` : ""}${each.waits ? ` · ${each.waits}` : ""}${each.last_problem ? ` · ${each.last_problem}` : ""}</p>
      <p class="buttons">${each.enabled
        ? html`<button type="button" class="quiet" onClick=${() => act(post(`/api/schedules/${each.id}/pause`))}>${t("Pause")}</button>`
        : each.cron && html`<button type="button" class="quiet" onClick=${() => act(post(`/api/schedules/${each.id}/resume`))}>${t("Resume")}</button>`}
        <button type="button" class="quiet" onClick=${() => act(remove(`/api/schedules/${each.id}`))}>${t("Remove")}</button></p></li>`)}</ul></details>`;
}
