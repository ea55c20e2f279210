// The form that starts a discussion: a question, the rules, who sits there, what it may cost. What it
// would cost is told before anything begins; nothing is called until the button is pressed.
import { useEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { freshKey, get, post } from "../api.js";
import { count, money, plural, short, titled } from "../format.js";
import { Failure, Notes } from "../parts.js";
import { html } from "../ui.js";

/** The options of a procedure that have a place of their own in the form, by what they are for. */
function partsOf(chosen) {
  const parts = { roles: [] };
  for (const each of chosen ? chosen.options : []) {
    if (each.part === "role") parts.roles.push(each.name);
    else if (each.part) parts[each.part] = each;
  }
  return parts;
}

/** The most experts that can be chosen; where a person sits beside them, one seat is left. */
const mostOf = (parts) => (parts.count ? parts.count.maximum : parts.experts.maximum - 1);
/** The option that gives one model to all seats. */
const modelOf = (parts) => parts.model || (parts.models && parts.models.kind === "list" ? parts.models : null);
const PLACEHOLDERS = { list: "A, B, C", pairs: "name=model, name=model" };
const TYPED = 600;

/** What is asked for, once nothing was changed for a moment. */
function useSettled(value) {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), TYPED);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The newest answer to a question that may be asked anew before it is answered. */
function useAnswer(ask, on) {
  const [answer, set] = useState({ value: null, error: null, busy: false });
  useEffect(() => {
    if (!ask) {
      set({ value: null, error: null, busy: false });
      return undefined;
    }
    let wanted = true;
    set((before) => ({ ...before, busy: true }));
    ask().then(
      (value) => wanted && set({ value, error: null, busy: false }),
      (error) => wanted && set({ value: null, error, busy: false }),
    );
    return () => {
      wanted = false;
    };
  }, on);
  return answer;
}

export function Start({ onClose }) {
  const [topic, setTopic] = useState("");
  const [procedure, setProcedure] = useState("");
  const [left, setLeft] = useState([]);
  const [size, setSize] = useState(3);
  const [model, setModel] = useState("");
  const [mine, setMine] = useState(false);
  const [name, setName] = useState("");
  const [role, setRole] = useState("scholar");
  const [more, setMore] = useState({});
  const [material, setMaterial] = useState("");
  const [search, setSearch] = useState(true);
  const [hosted, setHosted] = useState(false);
  const [cost, setCost] = useState("");
  const [calls, setCalls] = useState("");
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const key = useRef(freshKey());
  const routed = useRef({});

  const rules = useAnswer(() => get("/api/procedures"), []);
  const models = useAnswer(() => get("/api/models"), []);
  useEffect(() => {
    if (rules.value && !procedure) setProcedure(rules.value.default);
  }, [rules.value]);
  const chosen = rules.value ? rules.value.procedures.find((each) => each.name === procedure) : null;
  const parts = useMemo(() => partsOf(chosen), [chosen]);
  const question = useSettled(topic.trim());

  const suggested = useAnswer(
    question.length >= 8 && parts.experts ? () => post("/api/suggest", { topic: question, count: size + 2 }) : null,
    [question, Boolean(parts.experts), size],
  );
  const offered = suggested.value ? suggested.value.experts : [];
  const experts = hosted ? [] : offered.filter((each) => !left.includes(each.id)).slice(0, size);

  const options = useMemo(
    () => optionsFor({ parts, experts, model, mine, name, role, more, chosen, routed: routed.current, usual: models.value ? models.value.default_model : "" }),
    [experts.map((each) => each.id).join(), model, mine, name, role, more, chosen],
  );
  const request = { topic: question, procedure, options, search, clarify: hosted };
  if (material.trim()) request.context = [{ source: "given with the question", text: material }];
  const budget = {};
  if (Number(cost) > 0) budget.max_cost_usd = Number(cost);
  if (Number(calls) > 0) budget.max_calls = Math.round(Number(calls));
  if (Object.keys(budget).length) request.budget = budget;
  const asked = useSettled(JSON.stringify(request));
  const settled = question !== "" && procedure !== "" && !suggested.busy && JSON.parse(asked).topic === question;
  const estimate = useAnswer(settled ? () => post("/api/estimate", JSON.parse(asked)) : null, [settled ? asked : ""]);

  useEffect(() => {
    for (const each of estimate.value ? estimate.value.seats : []) {
      if (each.models[0] !== "outside") routed.current[each.id] = each.models[0];
    }
  }, [estimate.value]);

  const start = async (event) => {
    event.preventDefault();
    if (!topic.trim() || busy) return;
    setBusy(true);
    setError(null);
    try {
      const started = await post("/api/discussions", { ...request, topic: topic.trim(), key: key.current });
      const seat = mine && estimate.value ? estimate.value.seats.find((each) => each.models[0] === "outside" && !each.host) : null;
      location.assign(new URL((seat && started.links[seat.id]) || started.url, location.href).pathname);
    } catch (refused) {
      key.current = freshKey();
      setError(refused);
      setBusy(false);
    }
  };

  const listed = (advanced) => (chosen ? chosen.options : [])
    .filter((each) => !each.part && each.advanced === advanced)
    .map((each) => html`<${Option} key=${each.name} option=${each} value=${more[each.name]} onChange=${(value) => setMore({ ...more, [each.name]: value })} />`);

  return html`<section class="start" aria-labelledby="start-head"><h2 id="start-head">A new discussion</h2>
    <form onSubmit=${start}>
      <label>The question<textarea class="question" rows="3" dir="auto" autofocus required value=${topic} placeholder="Should we …?" onInput=${(event) => setTopic(event.target.value)}></textarea></label>
      <${Failure} error=${rules.error || models.error} />
      ${rules.value && html`<fieldset><legend>The rules</legend><div class="procedures">${rules.value.procedures.map((each) => html`<label class="option">
        <input type="radio" name="procedure" value=${each.name} checked=${procedure === each.name} disabled=${Boolean(each.error)} onChange=${() => {
          setProcedure(each.name);
          setMore({});
        }} />
        <strong>${titled(each.name)}</strong><span dir="auto">${each.error || each.summary}</span></label>`)}</div></fieldset>`}
      ${parts.experts && html`<${Experts} offered=${offered} busy=${suggested.busy} error=${suggested.error} question=${question} left=${left} setLeft=${setLeft} size=${size} setSize=${setSize} most=${mostOf(parts)} />`}
      ${(parts.experts || parts.roles.length > 0) && html`<fieldset><legend>You</legend>
        <label class="choice"><input type="checkbox" checked=${mine} onChange=${(event) => setMine(event.target.checked)} /> I hold a seat and speak for myself</label>
        ${mine && parts.experts && html`<label>Your name at the table<input type="text" dir="auto" value=${name} placeholder="You" onInput=${(event) => setName(event.target.value)} /></label>`}
        ${mine && parts.roles.length > 0 && html`<label>As<select value=${role} onChange=${(event) => setRole(event.target.value)}>${parts.roles.map((each) => html`<option value=${each} selected=${each === role}>${titled(each)}</option>`)}</select></label>`}
      </fieldset>`}
      <${Models} models=${models.value} model=${model} setModel=${setModel} usable=${Boolean(modelOf(parts))} />
      <details class="fold"><summary>Budget, material, more options</summary><div class="more-options">
        <div class="pair"><label>At most, in dollars<input type="number" min="0" step="0.01" inputmode="decimal" value=${cost} placeholder="no limit" onInput=${(event) => setCost(event.target.value)} /></label>
          <label>At most, calls<input type="number" min="1" step="1" value=${calls} placeholder="no limit" onInput=${(event) => setCalls(event.target.value)} /></label></div>
        <label>Material that everybody reads<textarea rows="4" dir="auto" value=${material} onInput=${(event) => setMaterial(event.target.value)}></textarea></label>
        <label class="choice"><input type="checkbox" checked=${search} onChange=${(event) => setSearch(event.target.checked)} /> Search the web, where a search is set up</label>
        ${parts.experts && html`<label class="choice"><input type="checkbox" checked=${hosted} onChange=${(event) => setHosted(event.target.checked)} /> Let the host choose the experts and ask me what is missing, in one call</label>`}
        ${listed(false)}
        ${chosen && chosen.options.some((each) => each.advanced && !each.part) && html`<details class="fold"><summary>Seldom needed</summary><div class="more-options">${listed(true)}</div></details>`}
      </div></details>
      <${Estimate} estimate=${estimate} question=${question} />
      <${Failure} error=${error} />
      <p class="buttons"><button type="button" class="quiet" onClick=${onClose}>Cancel</button>
        <button type="submit" class="main" disabled=${busy || !topic.trim() || !procedure}>${busy ? "Opening…" : "Begin"}</button></p>
    </form></section>`;
}

/** The procedure's own options for what was chosen in the form. Lists may go as they were typed. */
function optionsFor({ parts, experts, model, mine, name, role, more, chosen, routed, usual }) {
  const kinds = Object.fromEntries((chosen ? chosen.options : []).map((each) => [each.name, each.kind]));
  const options = {};
  for (const [key, value] of Object.entries(more)) {
    if (value === "" || value === false || value === undefined) continue;
    options[key] = kinds[key] === "number" ? Number(value) : value;
  }
  const own = name.trim() || "You";
  const wanted = model.trim();
  const all = modelOf(parts);
  if (wanted && all) options[all.name] = all.kind === "list" ? [wanted] : wanted;
  if (parts.experts && parts.experts.kind === "rows") {
    if (experts.length > 1) options[parts.experts.name] = experts.map((each) => ({ profile: each.id, role: each.name, perspective: each.perspective, display_name: each.name }));
    if (mine && parts.person) options[parts.person.name] = own;
  } else if (parts.experts) {
    const seated = [...experts.map((each) => each.id), ...(mine ? [own] : [])];
    if (seated.length) options[parts.experts.name] = seated;
    if (seated.length && parts.count) options[parts.count.name] = Math.max(2, seated.length);
    // Where seats get their models in order, the others keep those that were found for them.
    if (mine && parts.models.kind === "list") options[parts.models.name] = [...experts.map((each) => wanted || routed[each.id] || usual), "outside"];
    else if (mine) options[parts.models.name] = { [own]: "outside" };
  } else if (mine && parts.roles.length) {
    // A model for all would be stronger than that of a role, and take the person's seat.
    if (wanted && all) {
      delete options[all.name];
      for (const each of parts.roles) options[each] = wanted;
    }
    options[parts.roles.includes(role) ? role : parts.roles[0]] = "outside";
  }
  return options;
}

function Experts({ offered, busy, error, question, left, setLeft, size, setSize, most }) {
  const taken = offered.filter((each) => !left.includes(each.id)).slice(0, size);
  const toggle = (id, on) => setLeft(on ? left.filter((each) => each !== id) : [...left, id]);
  return html`<fieldset><legend>Experts for this question</legend>
    ${question.length < 8 ? html`<p class="faint small">Write the question, and experts are suggested for it.</p>` : html`
      <label class="choice">How many <input class="narrow" type="number" min="2" max=${most} value=${size} aria-label="How many experts" onInput=${(event) => setSize(Math.min(most, Math.max(2, Number(event.target.value) || 2)))} /></label>
      <div class="procedures" aria-busy=${busy}>${offered.map((each) => html`<label class="option" key=${each.id}>
        <input type="checkbox" checked=${taken.includes(each)} onChange=${(event) => toggle(each.id, event.target.checked)} />
        <strong>${each.name}</strong><span>${each.why}</span><span class="faint">${each.perspective}</span></label>`)}</div>
      ${busy && !offered.length && html`<p class="faint small" role="status">Looking for experts…</p>`}
      <${Failure} error=${error} />`}
  </fieldset>`;
}

function Models({ models, model, setModel, usable }) {
  if (!models) return null;
  const names = models.found.flatMap((each) => each.models);
  return html`<div><p class="small"><strong>Models found</strong> ${models.found.length
      ? models.found.map((each, n) => html`${n ? ", " : ""}${each.label} <span class="faint">(${each.models.length || each.how})</span>`)
      : html`<span class="faint">none beside the embedded demonstration model</span>`}. <span class="faint">Default, also for the host: ${models.default_model}.</span></p>
    ${usable && html`<label>One model for all experts (optional)<input type="text" list="model-names" value=${model} placeholder=${models.default_model} onInput=${(event) => setModel(event.target.value)} /></label>
      <datalist id="model-names">${[...names, ...Object.keys(models.scripted)].map((each) => html`<option value=${each}></option>`)}</datalist>`}
    ${models.missing.length > 0 && html`<details class="fold"><summary>How to get more</summary><ul>${models.missing.map((each) => html`<li><strong>${each.label}</strong>: ${each.get}</li>`)}</ul></details>`}
  </div>`;
}

function Option({ option, value, onChange }) {
  const about = html`${titled(option.name)} ${option.about && html`<span class="faint about-option">${option.about}</span>`}`;
  if (option.kind === "flag") return html`<label class="choice"><input type="checkbox" checked=${Boolean(value)} onChange=${(event) => onChange(event.target.checked)} /> <span>${about}</span></label>`;
  if (option.kind === "choice") return html`<label>${about}<select onChange=${(event) => onChange(event.target.value)}><option value="">${option.usual ? `as usual: ${option.usual}` : "as usual"}</option>${option.choices.map((each) => html`<option value=${each} selected=${value === each}>${each}</option>`)}</select></label>`;
  const number = option.kind === "number";
  return html`<label>${about}<input type=${number ? "number" : "text"} min=${number ? option.minimum : undefined} max=${number ? option.maximum : undefined} step=${number ? (option.whole ? 1 : "any") : undefined} value=${value || ""} placeholder=${PLACEHOLDERS[option.kind] || option.usual || "as usual"} onInput=${(event) => onChange(event.target.value)} /></label>`;
}

function Estimate({ estimate, question }) {
  const { value, error, busy } = estimate;
  if (!question) return null;
  if (error) return html`<${Failure} error=${error} />`;
  if (!value) return html`<p class="estimate faint" role="status">${busy ? "Estimating…" : ""}</p>`;
  const seats = value.seats.filter((each) => !each.host);
  return html`<div class="estimate" role="status" aria-busy=${busy}>
      <span><strong>${plural(seats.length, "seat")}</strong> ${seats.map((each) => each.name).join(", ")}</span>
      <span><strong>${count(value.calls)}</strong> calls</span>
      <span><strong>${short(value.tokens[0])}–${short(value.tokens[1])}</strong> tokens</span>
      <span><strong>${value.cost_usd ? (value.cost_usd[1] === 0 ? "no cost" : `${money(value.cost_usd[0])}–${money(value.cost_usd[1])}`) : "cost unknown"}</strong></span>
      ${value.seconds && html`<span><strong>${lasting(value.seconds)}</strong></span>`}
    </div>
    ${value.over_budget.map((each) => html`<p class="alert">Over the budget: ${each}.</p>`)}
    ${value.notes.length > 0 && html`<details class="fold"><summary>${plural(value.notes.length, "thing")} to know</summary><${Notes} notes=${value.notes} /></details>`}`;
}

function lasting([low, high]) {
  if (high < 90) return `${Math.round(low)}–${Math.max(1, Math.round(high))} s`;
  return `${Math.max(1, Math.round(low / 60))}–${Math.round(high / 60)} min`;
}
