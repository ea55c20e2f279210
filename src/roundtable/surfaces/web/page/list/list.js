// All decisions of this installation. Only its owner sees this page.
import { useCallback, useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { get, post, remove } from "../api.js";
import { Icon } from "../icons.js";
import { Brand, Dialog, Failure, languageOf } from "../parts.js";
import { plainName } from "../procedures.js";
import { useExamples } from "../start/examples.js";
import { html } from "../ui.js";
import { later, n, t } from "../words.js";
import { groupOf, plainRow, Row } from "./rows.js";

/** Milliseconds between two looks at what has changed; searching looks through every speech. */
const LOOK = 4000;
const LOOK_SEARCHING = 30_000;
const MOST = 200;
const GROUPS = [["turn", later("Your turn")], ["live", later("Live")], ["decided", later("Decided")], ["split", later("Split")], ["unfinished", later("Not finished")], ["other", later("Other")]];
const SORTS = {
  newest: [later("Newest first"), (one, other) => (one.found.updated_at < other.found.updated_at ? 1 : -1)],
  oldest: [later("Oldest first"), (one, other) => (one.found.updated_at < other.found.updated_at ? -1 : 1)],
  dearest: [later("Dearest first"), (one, other) => (other.row.cost_usd || 0) - (one.row.cost_usd || 0)],
};

/** Rows that belong together stand together: a follow-up under what it follows. */
function together(entries) {
  const byId = new Map(entries.map((each) => [each.found.discussion_id, each]));
  const under = new Map();
  const roots = [];
  for (const each of entries) {
    let root = each;
    const seen = new Set();
    while (root.row.follows && byId.has(root.row.follows) && !seen.has(root)) {
      seen.add(root);
      root = byId.get(root.row.follows);
    }
    if (root === each || seen.has(root)) roots.push(each);
    else under.set(root, [...(under.get(root) || []), each]);
  }
  return roots.flatMap((root) => {
    const further = (under.get(root) || []).sort(SORTS.oldest[1]);
    return [{ ...root, nested: false }, ...further.map((each) => ({ ...each, nested: true }))];
  });
}

export function List() {
  const [found, setFound] = useState(null);
  const [search, setSearch] = useState("");
  const [searched, setSearched] = useState("");
  const [error, setError] = useState(null);
  const [deleting, setDeleting] = useState(null);
  const [group, setGroup] = useState("");
  const [procedure, setProcedure] = useState("");
  const [dissent, setDissent] = useState(false);
  const [sort, setSort] = useState("newest");
  const examples = useExamples();
  const wanted = useRef("");
  const again = useRef(0);
  wanted.current = search;
  const load = useCallback(async () => {
    const words = wanted.current.trim();
    try {
      const listed = await get(`/api/discussions?search=${encodeURIComponent(words)}&limit=${MOST}`);
      if (words !== wanted.current.trim()) return; // the reader has typed on
      setFound(listed.discussions);
      setSearched(words);
      setError(null);
      clearTimeout(again.current);
      if (listed.pending) again.current = setTimeout(load, 50);
    } catch (refused) {
      setError(refused);
    }
  }, []);
  useEffect(() => {
    const timer = setTimeout(load, search ? 250 : 0);
    return () => clearTimeout(timer);
  }, [search]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) load();
    }, search.trim() ? LOOK_SEARCHING : LOOK);
    return () => clearInterval(timer);
  }, [Boolean(search.trim())]);
  useEffect(() => () => clearTimeout(again.current), []);
  useEffect(() => {
    document.title = `${t("Decisions")} · Roundtable`;
  }, []);
  const run = useCallback(async (id) => {
    try {
      await post(`/api/discussions/${id}/run`);
      load();
    } catch (refused) {
      setError(refused);
    }
  }, []);

  // A row keeps its object as long as nothing of it changed, so that only news are drawn anew.
  const kept = useRef(new Map());
  const entries = useMemo(() => {
    const next = new Map();
    for (const each of found || []) {
      const told = JSON.stringify(each);
      const before = kept.current.get(each.discussion_id);
      next.set(each.discussion_id, before && before.told === told ? before : { told, found: each, row: each.row || (before && before.row) || plainRow(each) });
    }
    kept.current = next;
    return [...next.values()];
  }, [found]);
  const counts = useMemo(() => {
    const counted = {};
    for (const each of entries) counted[groupOf(each.row)] = (counted[groupOf(each.row)] || 0) + 1;
    return counted;
  }, [entries]);
  const procedures = useMemo(() => [...new Set(entries.map((each) => each.found.procedure))], [entries]);
  const shown = useMemo(() => {
    const fitting = entries
      .filter((each) => (!group || groupOf(each.row) === group) && (!procedure || each.found.procedure === procedure) && (!dissent || each.row.dissent))
      .sort(SORTS[sort][1]);
    return together(fitting);
  }, [entries, group, procedure, dissent, sort]);

  const none = found && !found.length && !search.trim();
  const groups = GROUPS.filter(([name]) => counts[name] || name === group);
  return html`<main class="wrap list" id="list" tabindex="-1">
    ${none ? html`<${Empty} />` : html`
      <div class="head"><h1>${t("Decisions")}</h1>
        <label class="find-all"><span class="sr">${t("Search questions, answers, speeches")}</span><${Icon} name="search" /><input type="search" id="find" placeholder=${t("Search questions, answers, speeches")} value=${search} onInput=${(event) => setSearch(event.target.value)} /></label>
        <a class="button main" href="#new"><${Icon} name="plus" />${t("New decision")}</a></div>
      ${entries.length > 0 && html`<div class="filters"><div class="groups" role="group" aria-label=${t("State")}>
        <button type="button" aria-pressed=${!group} onClick=${() => setGroup("")}>${t("All")} ${entries.length}</button>
        ${groups.map(([name, told]) => html`<button type="button" key=${name} aria-pressed=${group === name} onClick=${() => setGroup(group === name ? "" : name)}>${t(told)} ${counts[name] || 0}</button>`)}
        <button type="button" aria-pressed=${dissent} onClick=${() => setDissent(!dissent)}>${t("With dissent")}</button></div>
        <div class="picks">${procedures.length > 1 && html`<label><span class="sr">${t("Way of working")}</span><select onChange=${(event) => setProcedure(event.target.value)}><option value="">${t("Every way of working")}</option>${procedures.map((each) => html`<option value=${each} selected=${each === procedure}>${plainName(each)}</option>`)}</select></label>`}
        <label><span class="sr">${t("Sort")}</span><select onChange=${(event) => setSort(event.target.value)}>${Object.entries(SORTS).map(([name, [told]]) => html`<option value=${name} selected=${name === sort}>${t(told)}</option>`)}</select></label></div></div>`}`}
    <${Failure} error=${error} />
    ${found === null && !error && html`<p class="soft" role="status">${t("Opening")}</p>`}
    <p class="sr" role="status">${searched ? n(shown.length, "{n} decision found", "{n} decisions found") : ""}</p>
    ${found && !none && !shown.length && html`<p class="soft nothing">${searched ? t("Nothing that was asked, said or decided holds “{words}”.", { words: searched }) : t("No decision fits this filter.")}</p>`}
    ${shown.length > 0 && html`<div class="th" aria-hidden="true"><span>${t("Answer")}</span><span>${t("Vote")}</span><span>${t("Confidence")}</span><span>${t("Cost")}</span><span>${t("When")}</span></div>
      <ul class="discussions">${shown.map((each) => html`<${Row} key=${each.found.discussion_id} found=${each.found} row=${each.row} nested=${each.nested} onRun=${run} onDelete=${setDeleting} />`)}</ul>`}
    ${found && found.length >= MOST && html`<p class="soft s">${t("The newest {n}. Search to find older ones.", { n: MOST })}</p>`}
    ${examples.length > 0 && found && html`<${Examples} examples=${examples} open=${Boolean(none)} />`}
    ${deleting && html`<${Delete} found=${deleting} onClose=${() => {
      setDeleting(null);
      load();
    }} />`}
  </main>`;
}

/** Recorded discussions: in view while there are none of one's own, folded away afterwards. */
function Examples({ examples, open }) {
  const origins = [...new Set(examples.map((each) => each.provenance))];
  return html`<details class="examples" open=${open} id="examples"><summary>${n(examples.length, "{n} recorded decision to look at", "{n} recorded decisions to look at")}</summary>
    ${origins.map((origin) => html`<p class="soft s">${origin}</p>
    <ul class="recorded">${examples.filter((each) => each.provenance === origin).map((each) => html`<li key=${each.name}>
      <p class="ask" dir="auto" lang=${languageOf(each.title)}>${each.title}</p>
      <h2 lang=${languageOf(each.answer)}><a href=${new URL(each.url, location.href).pathname} dir="auto">${each.answer}</a></h2>
      <p class="soft xs">${plainName(each.procedure)} · <time datetime=${each.date}>${each.date}</time></p></li>`)}</ul>`)}</details>`;
}

function Empty() {
  return html`<div class="empty"><${Brand} />
    <h1>${t("Nothing has been decided here yet")}</h1>
    <p class="soft">${t("Put a question to several experts. They answer alone, challenge each other, and a neutral host delivers an answer that you can check.")}</p>
    <p><a class="button main" href="#new">${t("Start the first decision")}</a></p></div>`;
}

function Delete({ found, onClose }) {
  const [error, setError] = useState(null);
  const sure = async () => {
    try {
      await remove(`/api/discussions/${found.discussion_id}`);
      onClose();
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<${Dialog} title=${t("Delete it for good?")} onClose=${onClose}>
    <p dir="auto">${found.topic.slice(0, 300)}</p><p class="soft s">${t("Everything that was said goes with it. This cannot be undone.")}</p>
    <${Failure} error=${error} />
    <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>${t("Keep it")}</button><button type="button" class="danger" onClick=${sure}>${t("Delete it")}</button></p>
  <//>`;
}
