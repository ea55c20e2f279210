// Who sits at the table: proposed with reasons, and changed at will. Nobody is called for it.
import { useRef, useState } from "../vendor/hooks.js";
import { post } from "../api.js";
import { initials, titled } from "../format.js";
import { Icon } from "../icons.js";
import { Failure } from "../parts.js";
import { html } from "../ui.js";
import { n, t } from "../words.js";
import { useAnswer, useSettled } from "./asking.js";

/** A model without who serves it, where there is little room. */
const brief = (model) => model.slice(model.indexOf("/") + 1);

export function ModelChoice({ label, models, value, routed, speak, onChange }) {
  const known = models ? models.found.flatMap((each) => each.models) : [];
  const scripted = models ? Object.keys(models.scripted) : [];
  const odd = value && value !== "outside" && !known.includes(value) && !scripted.includes(value);
  const option = (each) => html`<option value=${each} selected=${each === value}>${brief(each)}</option>`;
  return html`<select aria-label=${label} onChange=${(event) => onChange(event.target.value)}>
    <option value="" selected=${!value}>${routed ? t("Auto: {model}", { model: brief(routed) }) : t("Auto")}</option>
    ${speak && html`<option value="outside" selected=${value === "outside"}>${t("I speak here myself")}</option>`}
    ${odd && option(value)}
    ${(models ? models.found : []).filter((each) => each.models.length).map((each) => html`<optgroup key=${each.provider} label=${each.label}>${each.models.map(option)}</optgroup>`)}
    ${scripted.length > 0 && html`<optgroup label=${t("To try the program out")}>${scripted.map(option)}</optgroup>`}
  </select>`;
}

/** What an expert looks at, in short. */
const firstSentence = (text) => {
  const end = text.search(/[.!?。！？](\s|$)/);
  return end < 0 ? text : text.slice(0, end + 1);
};

/** One seat: who, why, with which model. */
function Seat({ seat, place, models, routed, onModel, onName, onReplace, onRemove }) {
  const me = seat.kind === "me";
  return html`<li class=${me ? "me" : undefined}>
    <span class=${`face seat${place % 12}`} aria-hidden="true">${initials(seat.name || "?")}</span>
    <div class="who">${me
      ? html`<label class="name-me"><span class="sr">${t("Your name at the table")}</span><input type="text" dir="auto" maxlength="60" value=${seat.name} onInput=${(event) => onName(event.target.value)} /></label><p>${t("You speak and vote yourself; the table waits for you.")}</p>`
      : html`<b dir="auto">${seat.name}</b><p dir="auto" title=${seat.why}>${seat.reason ? `${titled(seat.reason)}. ${firstSentence(seat.why)}` : firstSentence(seat.why)}</p>`}</div>
    ${me && !seat.role
      ? html`<span class="soft s">${t("no model")}</span>`
      : html`<${ModelChoice} label=${t("Model for {name}", { name: seat.name })} models=${models} value=${seat.model} routed=${routed} speak=${seat.role} onChange=${onModel} />`}
    <span class="doing">${onReplace && html`<button type="button" class="quiet icon" title=${t("Replace")} aria-label=${t("Replace {name}", { name: seat.name })} onClick=${onReplace}><${Icon} name="swap" /></button>`}
      ${onRemove && html`<button type="button" class="quiet icon" title=${t("Remove")} aria-label=${t("Remove {name}", { name: seat.name })} onClick=${onRemove}><${Icon} name="close" /></button>`}</span></li>`;
}

export function Cast({ parts, seats, setSeats, question, suggested, edited, onAgain, models, routed, most, hosted, setHosted, mayHost }) {
  const [words, setWords] = useState("");
  const [replacing, setReplacing] = useState(null);
  const [own, setOwn] = useState(null);
  const search = useRef(null);
  const asked = useSettled(words.trim(), 250);
  const found = useAnswer(asked.length >= 2 ? () => post("/api/experts", { search: asked }) : null, [asked]);
  const offered = (found.value ? found.value.experts : []).filter((each) => !seats.some((seat) => seat.id === each.id)).slice(0, 6);
  const full = seats.length >= most && replacing === null;
  const change = (place, with_) => setSeats(seats.map((each, at) => (at === place ? { ...each, ...with_ } : each)));
  const put = (seat) => {
    setSeats(replacing === null ? [...seats, seat] : seats.map((each, at) => (at === replacing ? { ...seat, model: each.model } : each)));
    setWords("");
    setReplacing(null);
    setOwn(null);
  };
  const take = (each) => put({ kind: "library", id: each.id, name: each.name, why: each.perspective, perspective: each.perspective, model: "" });
  const describe = () => {
    const name = own.name.trim();
    if (!name || seats.some((each) => each.name.toLowerCase() === name.toLowerCase())) return;
    const sentence = own.sentence.trim();
    put({ kind: "own", id: "", name, sentence, why: sentence || t("An expert of this name"), model: "" });
  };
  const fixed = !parts.experts && parts.roles.length > 0;
  const mine = seats.some((each) => each.kind === "me");
  if (!parts.experts && !fixed) {
    return html`<section class="blk" aria-labelledby="cast"><h2 id="cast">${t("Who should sit at the table?")}</h2>
      <p class="soft proposal">${t("This way of working puts the table together itself.")}</p></section>`;
  }
  return html`<section class="blk" aria-labelledby="cast"><h2 id="cast">${t("Who should sit at the table?")}</h2>
    <p class="soft proposal">${fixed ? t("Three fixed roles. Give each a model, or take one yourself.")
      : hosted ? t("The host reads the question and chooses who should sit here, with reasons. It may ask you what is missing. That is one call more.")
        : question.length < 8 ? t("Write the question, and experts are proposed for it.")
          : edited ? html`${t("Your own choice.")} <button type="button" class="link" onClick=${onAgain}>${t("Propose anew")}</button>`
            : t("Proposed for your question. Change whatever you like.")}</p>
    ${parts.experts && mayHost && html`<label class="choice"><input type="checkbox" checked=${hosted} onChange=${(event) => setHosted(event.target.checked)} /> ${t("Let the host choose, and ask me what is missing")}</label>`}
    ${!hosted && html`
      ${suggested.busy && !seats.length && html`<p class="soft" role="status">${t("Looking for experts")}</p>`}
      <${Failure} error=${suggested.error} />
      <ul class="cast" aria-busy=${suggested.busy}>${seats.map((seat, place) => html`<${Seat} key=${seat.id || seat.name || place} seat=${seat} place=${place} models=${models} routed=${routed[seat.id]}
        onModel=${(model) => change(place, seat.role ? { kind: model === "outside" ? "me" : "role", model } : { model })}
        onName=${(name) => change(place, { name })}
        onReplace=${fixed || seat.kind === "me" ? null : () => {
          setReplacing(place);
          search.current.focus();
        }}
        onRemove=${fixed ? null : () => {
          setReplacing(null);
          setSeats(seats.filter((_, at) => at !== place));
        }} />`)}</ul>
      ${!fixed && html`<div class="add">
        <input ref=${search} type="search" aria-label=${replacing === null ? t("Add an expert") : t("Replace {name} by", { name: seats[replacing].name })} aria-describedby="found-told" disabled=${full} placeholder=${full ? t("All {n} seats are taken", { n: most }) : replacing === null ? t("Add an expert: security, finance, law …") : t("Replace {name} by …", { name: seats[replacing].name })} value=${words}
          onInput=${(event) => setWords(event.target.value)} onKeyDown=${(event) => {
            if (event.key === "Enter") {
              event.preventDefault();
              if (offered.length) take(offered[0]);
            } else if (event.key === "Escape" && (words || replacing !== null)) {
              event.preventDefault();
              setWords("");
              setReplacing(null);
            }
          }} />
        <button type="button" disabled=${full} aria-expanded=${own !== null} onClick=${() => setOwn(own ? null : { name: "", sentence: "" })}><${Icon} name="pen" />${t("Describe your own")}</button>
        ${!mine && (parts.models || parts.person) && html`<button type="button" disabled=${full} onClick=${() => put({ kind: "me", id: "", name: t("You"), model: "" })}><${Icon} name="plus" />${t("Take a seat yourself")}</button>`}
      </div>
      <p id="found-told" class="sr" role="status">${asked.length >= 2 && found.value ? n(offered.length, "{n} expert found; Enter takes the first", "{n} experts found; Enter takes the first") : ""}</p>
      ${asked.length >= 2 && words.trim() && html`<ul class="hits">${offered.map((each) => html`<li key=${each.id}><button type="button" onClick=${() => take(each)}><b dir="auto">${each.name}</b><span dir="auto">${each.perspective}</span></button></li>`)}
        ${found.value && !offered.length && html`<li class="soft s">${t("Nobody in the library fits. Describe your own.")}</li>`}</ul>`}
      <${Failure} error=${found.error} />
      ${own && html`<div class="own-expert" role="group" ref=${intoView} aria-label=${t("An expert of your own")}>
        <label>${t("Name")}<input type="text" dir="auto" maxlength="60" value=${own.name} placeholder=${t("Beekeeper")} onInput=${(event) => setOwn({ ...own, name: event.target.value })} onKeyDown=${entered(describe)} /></label>
        <label>${t("In one sentence: what does this expert look at?")}<input type="text" dir="auto" maxlength="300" value=${own.sentence} placeholder=${t("Asks what a decision does to the bees within a mile.")} onInput=${(event) => setOwn({ ...own, sentence: event.target.value })} onKeyDown=${entered(describe)} /></label>
        <button type="button" disabled=${!own.name.trim()} onClick=${describe}>${t("Add this expert")}</button></div>`}`}`}
  </section>`;
}

/** What was opened is seen. */
const intoView = (place) => place && place.scrollIntoView({ block: "nearest", behavior: "instant" });

/** Enter adds, and does not start the discussion. */
const entered = (act) => (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  act();
};
