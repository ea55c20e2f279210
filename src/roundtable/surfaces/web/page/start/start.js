// A new decision: one box for the question and its documents, how they work, who sits there, what it
// takes. Nothing is called until the button is pressed.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { freshKey, get, post } from "../api.js";
import { titled } from "../format.js";
import { Failure } from "../parts.js";
import { html } from "../ui.js";
import { t } from "../words.js";
import { useAnswer, useSettled } from "./asking.js";
import { Before } from "./before.js";
import { Cast } from "./cast.js";
import { contextOf, Question } from "./documents.js";
import { ExampleLinks, useExamples } from "./examples.js";
import { AGAIN } from "../going-on.js";
import { Keys } from "./keys.js";
import { Options } from "./options.js";
import { modelOf, mostOf, optionsFor, partsOf } from "./request.js";
import { Ways } from "./ways.js";

const SEATS = 3;
const LEAST = 8; // characters of a question for which experts can be proposed
const USUAL_LIMITS = { question: 100_000, document: 2_000_000, documents: 100, request: 2_097_152, upload: 12_000_000 };
const DEMONSTRATION = "local/";

/** What is asked again, once: a question from a page that led here. */
function begun() {
  try {
    const held = JSON.parse(sessionStorage.getItem(AGAIN) || "{}");
    sessionStorage.removeItem(AGAIN);
    return { topic: String(held.topic || ""), procedure: String(held.procedure || "") };
  } catch {
    return { topic: "", procedure: "" };
  }
}

export function Start() {
  const again = useMemo(begun, []);
  const [topic, setTopic] = useState(again.topic);
  const [documents, setDocuments] = useState([]);
  const [procedure, setProcedure] = useState("");
  const [chosenSeats, setChosenSeats] = useState(null); // null: as proposed
  const [hosted, setHosted] = useState(false);
  const [model, setModel] = useState("");
  const [more, setMore] = useState({});
  const [search, setSearch] = useState(true);
  const [language, setLanguage] = useState("");
  const [limit, setLimit] = useState("");
  const [calls, setCalls] = useState("");
  const [secrets, setSecrets] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const [keys, setKeys] = useState(false);
  const [looked, setLooked] = useState(0);
  const key = useRef(freshKey());
  const routed = useRef({});
  const examples = useExamples();

  const rules = useAnswer(() => get("/api/procedures"), []);
  const models = useAnswer(() => get("/api/models"), [looked]);
  useEffect(() => {
    if (rules.value && !procedure) choose(rules.value.procedures.some((each) => each.name === again.procedure) ? again.procedure : rules.value.default);
  }, [rules.value]);
  useEffect(() => {
    document.title = `${t("New decision")} · Roundtable`;
  }, []);
  const limits = (rules.value && rules.value.limits) || USUAL_LIMITS;
  const chosen = rules.value ? rules.value.procedures.find((each) => each.name === procedure) : null;
  const parts = useMemo(() => partsOf(chosen), [chosen]);
  const question = useSettled(topic.trim());
  const usual = models.value ? models.value.default_model : "";
  const noKey = Boolean(models.value) && (!usual || usual.startsWith(DEMONSTRATION));

  const suggests = question.length >= LEAST && Boolean(parts.experts) && question.length <= limits.question;
  const suggested = useAnswer(suggests ? () => post("/api/suggest", { topic: question, count: SEATS }) : null, [suggests ? question : ""]);
  const proposed = useMemo(() => {
    const me = procedure === "meeting" ? [{ kind: "me", id: "", name: t("You"), model: "" }] : [];
    if (!parts.experts) return parts.roles.map((name) => ({ kind: "role", role: true, id: name, name: titled(name), why: t("Seat of the {name}", { name: titled(name) }), model: "" }));
    return [...(suggested.value ? suggested.value.experts : []).map((each) => ({ kind: "library", id: each.id, name: each.name, why: each.perspective, reason: each.why, perspective: each.perspective, model: "" })), ...(suggested.value ? me : [])];
  }, [parts, procedure, suggested.value]);
  const seats = hosted && parts.experts ? [] : chosenSeats || proposed;

  function choose(name) {
    // The seats are another procedure's; what was chosen of the library fits into each that has one.
    const next = rules.value.procedures.find((each) => each.name === name);
    const had = chosenSeats && parts.experts && partsOf(next).experts;
    setProcedure(name);
    setMore({});
    if (!had) setChosenSeats(null);
  }

  const request = useMemo(() => {
    const made = {
      topic: question,
      procedure,
      options: optionsFor({ chosen, parts, seats, model, more, routed: routed.current, usual }),
      search,
      clarify: hosted && Boolean(parts.experts),
    };
    Object.assign(made, contextOf(documents, topic, limits));
    if (language.trim()) made.language = language.trim();
    if (secrets) made.secrets = secrets;
    const budget = {};
    if (Number(limit) > 0) budget.max_cost = Number(limit);
    if (Number(calls) > 0) budget.max_calls = Math.round(Number(calls));
    if (Object.keys(budget).length) made.budget = budget;
    return made;
  }, [question, procedure, chosen, seats, model, more, usual, search, hosted, documents, limits, language, secrets, limit, calls]);
  const asked = useSettled(request);
  const settled = question !== "" && procedure !== "" && !(suggested.busy && !chosenSeats) && asked === request;
  const estimate = useAnswer(settled ? () => post("/api/estimate", asked) : null, [settled ? asked : "", looked], question !== "");
  useEffect(() => {
    for (const each of estimate.value ? estimate.value.seats : []) {
      if (each.models[0] !== "outside" && !seats.some((seat) => seat.id === each.id && seat.model)) routed.current[each.id] = each.models[0];
    }
  }, [estimate.value]);

  const start = async (event) => {
    event.preventDefault();
    if (!topic.trim() || busy) return;
    setBusy(true);
    setError(null);
    try {
      const started = await post("/api/discussions", { ...request, topic: topic.trim(), key: key.current });
      const mine = seats.some((each) => each.kind === "me") && estimate.value
        ? estimate.value.seats.find((each) => each.models[0] === "outside" && !each.host) : null;
      location.assign(new URL((mine && started.links[mine.id]) || started.url, location.href).pathname);
    } catch (refused) {
      key.current = freshKey();
      setError(refused);
      setBusy(false);
    }
  };
  useEffect(() => setError(null), [topic, documents, secrets]);

  const advanced = chosen && chosen.options.some((each) => each.advanced && !each.part);
  return html`<form class="wrap start" onSubmit=${start} aria-label=${t("New decision")}>
    <main id="start" tabindex="-1">
      <${Question} topic=${topic} setTopic=${setTopic} documents=${documents} setDocuments=${setDocuments} limits=${limits} />
      <${Failure} error=${rules.error || models.error} />
      ${rules.value && html`<${Ways} procedures=${rules.value.procedures} chosen=${procedure} onChoose=${choose} />`}
      ${chosen && html`<${Cast} parts=${parts} seats=${seats} setSeats=${setChosenSeats} question=${question} suggested=${suggested} edited=${Boolean(chosenSeats)} onAgain=${() => setChosenSeats(null)}
        models=${models.value} routed=${routed.current} most=${mostOf(parts)} hosted=${hosted} setHosted=${setHosted} mayHost=${Boolean(usual) && !noKey && !usual.startsWith("scripted/")} />`}
      <details class="opt"><summary>${t("More: options to vote on, language, web search, one model for all")}</summary><div class="more-options">
        ${modelOf(parts) && models.value && html`<label>${t("One model for all experts")}<input type="text" list="model-names" value=${model} placeholder=${usual} onInput=${(event) => setModel(event.target.value)} /></label>
          <datalist id="model-names">${[...models.value.found.flatMap((each) => each.models), ...Object.keys(models.value.scripted)].map((each) => html`<option value=${each}></option>`)}</datalist>`}
        <label>${t("Language of the discussion")}<input type="text" value=${language} placeholder=${t("as the question is")} onInput=${(event) => setLanguage(event.target.value)} /></label>
        <label class="choice"><input type="checkbox" checked=${search} onChange=${(event) => setSearch(event.target.checked)} /> ${t("Search the web, where a search is set up")}</label>
        <${Options} chosen=${chosen} more=${more} setMore=${setMore} />
        ${advanced && html`<details class="opt"><summary>${t("Seldom needed")}</summary><div class="more-options"><${Options} chosen=${chosen} more=${more} setMore=${setMore} advanced /></div></details>`}
      </div></details>
    </main>
    <div class="side">
      <${Before} estimate=${estimate} secrets=${secrets} setSecrets=${setSecrets} limit=${limit} setLimit=${setLimit} calls=${calls} setCalls=${setCalls} error=${error} busy=${busy}
        ready=${Boolean(topic.trim()) && Boolean(procedure) && topic.length <= limits.question && !documents.some((each) => each.reading)} onKeys=${() => setKeys(true)} noKey=${noKey} hosted=${hosted && Boolean(parts.experts)} />
      ${examples.length > 0 && html`<section class="else" aria-labelledby="else"><h2 id="else">${noKey ? t("No key yet? Look at a recorded decision") : t("Recorded decisions to look at")}</h2><${ExampleLinks} examples=${examples} /></section>`}
    </div>
  </form>
  ${keys && html`<${Keys} onClose=${() => setKeys(false)} onChange=${() => setLooked((before) => before + 1)} />`}`;
}
