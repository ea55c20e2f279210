// What is being said now: columns side by side where they speak at the same time, one speaker's stage
// where they speak in turn. On a phone the columns are tabs.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { turnPlace } from "../format.js";
import { directionOf, languageOf, Face, seatClass, Words } from "../parts.js";
import { positionOf } from "../reading/declared.js";
import { person } from "../reducer.js";
import { html, memo } from "../ui.js";
import { n, t } from "../words.js";
import { Growing } from "./markdown.js";
import { DOING } from "./words.js";

const UNDER = 3;
/** Words of a finished speech past which it is folded in its column. */
const SHORT = 90;
/** Characters that tell a language and a direction. */
const TELLING = 200;

/** Who speaks in this stage, what each does, and what was said. */
export function voices(state, stage, called) {
  const items = {};
  for (const round of state.rounds) for (const item of round.items) if (stage.turns.includes(item.id)) items[item.id] = item;
  return stage.turns.map((id, number) => {
    const who = person(state, stage.seats[number]);
    const item = items[id] || null;
    const speaking = state.speaking[id] || null;
    let doing = "waiting";
    if (speaking) doing = "thinking";
    else if (item) doing = item.kind === "failure" ? "absent" : "spoke";
    else if (called.includes(who.id)) doing = "called";
    return { id, who, item, speaking, doing };
  });
}

/** Whether somebody has words already: thinking turns into writing. */
function useBegun(drafts, id, speaking) {
  const [begun, set] = useState(false);
  useEffect(() => {
    set(Boolean(drafts.words.get(id)));
    return drafts.listen(id, (words) => set(Boolean(words)));
  }, [id, Boolean(speaking)]);
  return begun;
}

const Draft = memo(function Draft({ id, drafts }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    const growing = new Growing(place.current, UNDER);
    let begun = 0;
    const take = (words) => {
      // The first words may tell little; once there are some, whatever it is stays: to say it again
      // styles everything below it anew.
      if (begun < TELLING && words.length > begun) {
        begun = words.length;
        const [language, direction] = [languageOf(words) || "", directionOf(words)];
        if (place.current.lang !== language) place.current.lang = language;
        if (place.current.dir !== direction) place.current.dir = direction;
      }
      growing.write(words);
    };
    take(drafts.words.get(id) || "");
    return drafts.listen(id, take);
  }, [id]);
  return html`<div class="words growing" ref=${place}></div>`;
});

/** What somebody holds, in a line, with what it demands and wants to know. */
function Position({ item, named }) {
  const { text, sure, own } = positionOf(item, named);
  if (!own || !text) return null;
  const asks = item.declared.filter((each) => each.code === "demands" || each.code === "asks");
  return html`<div class="holding"><b>${sure === null ? t("Holds") : t("Holds, {n} % sure", { n: sure })}</b><p class="holds" dir="auto">${text}</p>
    ${asks.length > 0 && html`<ul>${asks.map((each) => html`<li class="chip" dir="auto">${each.code === "demands" ? t("Demands: {what}", { what: each.text }) : t("To find out: {what}", { what: each.text })}</li>`)}</ul>`}</div>`;
}

/** The words of whoever has spoken, folded where they are many. */
function Said({ item, named }) {
  const long = item.words > SHORT * 1.3;
  const [open, setOpen] = useState(false);
  return html`<div class=${long && !open ? "spoken folded" : "spoken"}>${item.html && html`<${Words} markup=${item.html} under=${UNDER} named=${named} />`}</div>
    ${long && html`<p class="read-on"><button type="button" class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? t("Fold") : n(Math.max(10, Math.round((item.words - SHORT) / 10) * 10), "Read on, {n} word more", "Read on, {n} words more")}</button></p>`}`;
}

const Column = memo(function Column({ id, who, item, speaking, doing, drafts, named, shown, tab, mine, many = false }) {
  const begun = useBegun(drafts, id, speaking);
  const now = doing === "thinking" && begun ? "writing" : doing;
  const about = who.perspective || (who.role !== who.name ? who.role : "");
  const name = `live-${who.id}`;
  return html`<section class=${`voice ${seatClass(who)}${shown ? " on" : ""} is-${now}`} id=${name} tabindex="-1" aria-busy=${now === "writing"} role=${tab ? "tabpanel" : undefined} aria-labelledby=${`${name}-by`} data-writing=${now === "writing" ? "" : undefined}>
    <header><${Face} who=${who} kind=${now === "absent" ? "out" : ""} />
      <span class="by"><h3 id=${`${name}-by`}><bdi>${who.name}</bdi>${mine && html` <span class="you">${t("you")}</span>`}</h3>${about && html`<small dir="auto">${about}</small>`}</span>
      <span class=${`chip ${now === "spoke" ? "" : now === "absent" ? "warn" : "plain"}`}>${now === "thinking" && html`<span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>`}${DOING[now]()}</span></header>
    <div class="voice-body">
    ${item && item.kind === "speech" && html`<${Position} item=${item} named=${named} />`}
    <div class="voice-words" tabindex=${many ? "0" : undefined} role=${many ? "group" : undefined} aria-label=${many ? t("Words of {name}", { name: who.name }) : undefined}><div>
      ${item && item.kind === "speech" && item.html && html`<${Said} item=${item} named=${named} />`}
      ${item && item.kind === "failure" && html`<p class="soft s" dir="auto">${item.message}</p>`}
      ${!item && speaking && html`<${Draft} key=${`${id}-${speaking.attempt}`} id=${id} drafts=${drafts} />`}
      ${now === "called" && html`<p class="soft">${mine ? t("Your words are asked for below.") : t("The table waits for {name}.", { name: who.name })}</p>`}
      ${!item && speaking && speaking.attempt > 1 && html`<p class="soft xs">${speaking.interrupted ? t("Asked again: it was interrupted") : t("Asked again: the first answer did not count")}</p>`}
    </div></div></div>
  </section>`;
});

/** Side by side; below a certain width one at a time, behind tabs. */
function Columns({ found, drafts, named, narrow, mySeat }) {
  const [chosen, setChosen] = useState("");
  const busy = found.find((each) => each.speaking) || found.find((each) => each.doing === "called") || found[0];
  const shown = found.some((each) => each.id === chosen) ? chosen : busy.id;
  const step = (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const at = found.findIndex((each) => each.id === shown);
    const next = found[(at + way + found.length) % found.length];
    setChosen(next.id);
    document.getElementById(`tab-${next.who.id}`).focus();
  };
  return html`
    ${narrow && html`<div class="tabs" role="tablist" aria-label=${t("Experts")} onKeyDown=${step}>${found.map((each) => html`<${Tab} key=${each.id} ...${each} drafts=${drafts} on=${each.id === shown} choose=${() => setChosen(each.id)} />`)}</div>`}
    <div class=${`columns of-${Math.min(found.length, 5)}`} tabindex=${!narrow && found.length > 4 ? "0" : undefined} role=${!narrow && found.length > 4 ? "group" : undefined} aria-label=${!narrow && found.length > 4 ? t("Experts") : undefined}>
      ${found.filter((each) => !narrow || each.id === shown).map((each) => html`<${Column} key=${each.id} ...${each} drafts=${drafts} named=${named} shown=${each.id === shown} tab=${narrow} many=${!narrow && found.length > 4} mine=${each.who.id === mySeat} />`)}
    </div>`;
}

function Tab({ id, who, speaking, doing, drafts, on, choose }) {
  const begun = useBegun(drafts, id, speaking);
  return html`<button type="button" role="tab" id=${`tab-${who.id}`} aria-selected=${on} aria-controls=${on ? `live-${who.id}` : undefined} tabindex=${on ? undefined : "-1"} onClick=${choose}><b><bdi>${who.name}</bdi></b><span>${DOING[doing === "thinking" && begun ? "writing" : doing]()}</span></button>`;
}

/** One speaks, the others wait or have spoken. */
function OneStage({ found, drafts, named, mySeat }) {
  const last = found.filter((each) => each.item).reduce((one, two) => (!one || one.item.at < two.item.at ? two : one), null);
  const now = found.find((each) => each.speaking) || found.find((each) => each.doing === "called") || last || found[0];
  const others = found.filter((each) => each !== now);
  return html`<div class="one-stage">
    <div class="columns of-1"><${Column} key=${now.id} ...${now} drafts=${drafts} named=${named} shown=${true} tab=${false} mine=${now.who.id === mySeat} /></div>
    ${others.length > 0 && html`<ul class="waiting" aria-label=${t("The others")}>${others.map((each) => html`<li key=${each.id} class=${`${seatClass(each.who)} is-${each.doing}`}><${Face} who=${each.who} kind=${each.doing === "absent" ? "sm out" : "sm"} />
      <span>${each.item && each.item.kind === "speech" ? html`<a href=${`#${encodeURI(turnPlace(each.id))}`}><bdi>${each.who.name}</bdi></a>` : html`<bdi>${each.who.name}</bdi>`}<small>${DOING[each.doing]()}</small></span></li>`)}</ul>`}
  </div>`;
}

/** What is held now. `together` says that they speak side by side. */
export function Voices({ state, stage, together, called, drafts, named, narrow, mySeat }) {
  const found = voices(state, stage, called);
  if (!found.length) return null;
  return together
    ? html`<${Columns} key=${`${stage.round}/${stage.stage}`} found=${found} drafts=${drafts} named=${named} narrow=${narrow} mySeat=${mySeat} />`
    : html`<${OneStage} found=${found} drafts=${drafts} named=${named} mySeat=${mySeat} />`;
}
