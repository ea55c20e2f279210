// All decisions of this installation. Only its owner sees this page.
import { useCallback, useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { get, post, remove } from "../api.js";
import { day } from "../format.js";
import { Icon } from "../icons.js";
import { Brand, Dialog, Failure, languageOf } from "../parts.js";
import { plainName } from "../procedures.js";
import { useExamples } from "../start/examples.js";
import { html } from "../ui.js";
import { later, n, t } from "../words.js";
import { plainRow, Row } from "./rows.js";
import { Schedules } from "./schedules.js";

/** Milliseconds between two looks at what has changed; searching looks through every speech. */
const LOOK = 4000;
const LOOK_SEARCHING = 30_000;
/** Rows that are shown at first, and with each demand for more. */
const AT_ONCE = 100;
const GROUPS = [["turn", later("Your turn")], ["live", later("Live")], ["decided", later("Decided")], ["split", later("Split")], ["unfinished", later("Not finished")], ["other", later("Other")]];
const SORTS = { newest: later("Newest first"), oldest: later("Oldest first"), dearest: later("Most expensive first") };
const NOTHING = { discussions: [], total: 0, counts: {}, procedures: [] };

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
    const further = (under.get(root) || []).sort((one, other) => (one.found.updated_at < other.found.updated_at ? -1 : 1));
    return [{ ...root, nested: false }, ...further.map((each) => ({ ...each, nested: true }))];
  });
}

export function List() {
  const [listed, setListed] = useState(null);
  const left = useRef(history.state && history.state.list ? history.state.list : {}).current;
  const [search, setSearch] = useState(left.search || "");
  const [searched, setSearched] = useState("");
  const [error, setError] = useState(null);
  const [deleting, setDeleting] = useState(null);
  const [group, setGroup] = useState(left.group || "");
  const [procedure, setProcedure] = useState(left.procedure || "");
  const [dissent, setDissent] = useState(Boolean(left.dissent));
  const [sort, setSort] = useState(left.sort || "newest");
  const [most, setMost] = useState(AT_ONCE);
  const filtered = Boolean(group || procedure || dissent);
  const unfiltered = () => {
    setGroup("");
    setProcedure("");
    setDissent(false);
  };
  // Whoever comes back from a decision finds the list as it was left.
  useEffect(() => history.replaceState({ ...history.state, list: { search, group, procedure, dissent, sort } }, ""), [search, group, procedure, dissent, sort]);
  const examples = useExamples();
  const wanted = useRef("");
  const again = useRef(0);
  // The server chooses, from all that there are.
  wanted.current = new URLSearchParams({ search: search.trim(), ...(group && { group }), procedure, dissent, sort, limit: most }).toString();
  const load = useCallback(async () => {
    const asked = wanted.current;
    try {
      const told = await get(`/api/discussions?${asked}`);
      if (asked !== wanted.current) return; // the reader has typed or chosen on
      setListed(told);
      setSearched(new URLSearchParams(asked).get("search"));
      setError(null);
      clearTimeout(again.current);
      if (told.pending) again.current = setTimeout(load, 50);
    } catch (refused) {
      setError(refused);
    }
  }, []);
  useEffect(() => {
    const timer = setTimeout(load, search ? 250 : 0);
    return () => clearTimeout(timer);
  }, [search]);
  useEffect(() => {
    if (listed) load();
  }, [group, procedure, dissent, sort, most]);
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
  const { discussions: found, total, counts, procedures } = listed || NOTHING;
  const entries = useMemo(() => {
    const next = new Map();
    for (const each of found) {
      const told = JSON.stringify(each);
      const before = kept.current.get(each.discussion_id);
      next.set(each.discussion_id, before && before.told === told ? before : { told, found: each, row: each.row || (before && before.row) || plainRow(each) });
    }
    kept.current = next;
    return [...next.values()];
  }, [found]);
  const shown = useMemo(() => together(entries), [entries]);
  const all = Object.values(counts).reduce((sum, each) => sum + each, 0);
  const none = listed && !all && !search.trim();
  const groups = GROUPS.filter(([name]) => counts[name] || name === group);
  return html`<main class="wrap list" id="list" tabindex="-1">
    ${none ? html`<${Empty} />` : html`
      <div class="head"><h1>${t("Decisions")}</h1>
        <label class="find-all"><span class="sr">${t("Search questions, answers, speeches")}</span><${Icon} name="search" /><input type="search" id="find" placeholder=${t("Search questions, answers, speeches")} value=${search} onInput=${(event) => setSearch(event.target.value)} /></label>
        <a class="button main" href="#new"><${Icon} name="plus" />${t("New decision")}</a></div>
      ${all > 0 && html`<div class="filters"><div class="groups" role="group" aria-label=${t("State")}>
        <button type="button" aria-pressed=${!filtered} onClick=${unfiltered}>${t("All")} ${all}</button>
        ${groups.map(([name, told]) => html`<button type="button" key=${name} aria-pressed=${group === name} onClick=${() => setGroup(group === name ? "" : name)}>${t(told)} ${counts[name] || 0}</button>`)}
        <button type="button" aria-pressed=${dissent} onClick=${() => setDissent(!dissent)}>${t("With dissent")}</button></div>
        <div class="picks">${procedures.length > 1 && html`<label><span class="sr">${t("Way of working")}</span><select onChange=${(event) => setProcedure(event.target.value)}><option value="" selected=${!procedure}>${t("Every way of working")}</option>${procedures.map((each) => html`<option value=${each} selected=${each === procedure}>${plainName(each)}</option>`)}</select></label>`}
        <label><span class="sr">${t("Sort")}</span><select onChange=${(event) => setSort(event.target.value)}>${Object.entries(SORTS).map(([name, told]) => html`<option value=${name} selected=${name === sort}>${t(told)}</option>`)}</select></label></div></div>`}`}
    <${Failure} error=${error} />
    ${listed === null && !error && html`<p class="soft" role="status">${t("Opening")}</p>`}
    <p class="sr" role="status">${searched ? n(total, "{n} decision found", "{n} decisions found") : ""}</p>
    ${listed && !none && !shown.length && html`<p class="soft nothing">${!searched ? t("No decision fits this filter.") : filtered ? t("Nothing within this filter holds “{words}”.", { words: searched }) : t("Nothing that was asked, said or decided holds “{words}”.", { words: searched })}
      ${filtered && html` <button type="button" class="link" onClick=${unfiltered}>${searched ? t("Search all decisions") : t("Show all decisions")}</button>`}</p>`}
    ${shown.length > 0 && html`<div class="th" aria-hidden="true"><span>${t("Answer")}</span><span>${t("Vote")}</span><span>${t("Confidence")}</span><span>${t("Cost")}</span><span>${t("When")}</span></div>
      <ul class="discussions">${shown.map((each) => html`<${Row} key=${each.found.discussion_id} found=${each.found} row=${each.row} nested=${each.nested} words=${searched} onRun=${run} onDelete=${setDeleting} />`)}</ul>`}
    ${total > found.length && html`<p class="further"><button type="button" onClick=${() => setMost(most + AT_ONCE)}>${t("Show more")}</button> <span class="soft s">${t("{n} of {all}", { n: found.length, all: total })}</span></p>`}
    <${Schedules} />
    ${examples.length > 0 && listed && html`<${Examples} examples=${examples} open=${Boolean(none)} />`}
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
      <p class="soft xs">${plainName(each.procedure)} · <time datetime=${each.date}>${day(each.date)}</time></p></li>`)}</ul>`)}</details>`;
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
