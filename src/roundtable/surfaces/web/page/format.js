// Times in the reader's own zone, amounts, and other small words.

import { languageNow, localeNow, n, t } from "./words.js";

const DATES = {
  clock: { hour: "2-digit", minute: "2-digit" },
  day: { day: "numeric", month: "long", year: "numeric" },
  whole: { dateStyle: "full", timeStyle: "long" },
};
const made = {};
/** Characters of a date without a time: it is the same day everywhere. */
const DATE = 10;

/** A formatter in the language of the interface, made when it is first asked for. */
function formatter(name, make) {
  if (!made[name]) made[name] = make(localeNow());
  return made[name];
}

function dated(name, at) {
  return formatter(name, (locale) => new Intl.DateTimeFormat(locale, DATES[name])).format(new Date(at));
}

function numbered(name, number, options) {
  return formatter(name, (locale) => new Intl.NumberFormat(locale, options)).format(number);
}

export function clock(at) {
  return dated("clock", at);
}

export function whole(at) {
  return dated("whole", at);
}

/** A day as the report words it; in English it reads the same everywhere. */
export function day(at) {
  const zone = at.length > DATE ? {} : { timeZone: "UTC" };
  return formatter(`day ${at.length > DATE}`, (locale) => new Intl.DateTimeFormat(languageNow() === "en" ? "en-GB" : locale, { ...DATES.day, ...zone })).format(new Date(at));
}

/** `3 minutes ago`, or the day if that was long ago. */
export function ago(at, now = Date.now()) {
  const seconds = (new Date(at) - now) / 1000;
  for (const [unit, size, most] of [["second", 1, 60], ["minute", 60, 60], ["hour", 3600, 24], ["day", 86400, 7]]) {
    if (Math.abs(seconds / size) < most) {
      if (unit === "second" && Math.abs(seconds) < 10) return t("just now");
      return formatter("relative", (locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" })).format(Math.round(seconds / size), unit);
    }
  }
  return day(at);
}

export function count(number) {
  return numbered("count", number, {});
}

/** 12,345 as 12.3K where there is little room. */
export function short(number) {
  return numbered("short", number, { notation: "compact", maximumFractionDigits: 1 });
}

/** What nobody knows is never zero. */
export function money(usd) {
  if (usd === null || usd === undefined) return t("unknown");
  const dollars = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" };
  if (usd === 0) return numbered("nothing", 0, { ...dollars, maximumFractionDigits: 0 });
  return usd < 0.01 ? numbered("cents", usd, { ...dollars, minimumFractionDigits: 4 }) : numbered("dollars", usd, dollars);
}

/** How long it takes or took, as one says it. */
export function lasted(seconds) {
  if (seconds < 90) return n(Math.max(1, Math.round(seconds)), "{n} second", "{n} seconds");
  if (seconds < 5400) return n(Math.round(seconds / 60), "{n} minute", "{n} minutes");
  return n(Math.round(seconds / 3600), "{n} hour", "{n} hours");
}

/** The limits of a budget in one line; empty where there is none. */
export function allowed(budget) {
  const limits = [
    [budget.max_cost_usd, money],
    [budget.max_calls, (most) => n(most, "{n} call", "{n} calls")],
    [budget.max_tokens, (most) => n(most, "{n} token", "{n} tokens")],
    [budget.max_seconds, lasted],
  ];
  return limits.filter(([most]) => most !== null && most !== undefined).map(([most, told]) => told(most)).join(", ");
}

/** A cost by how much of it is known: told by the providers, counted by the program, or neither. */
export function spending({ cost_known: known, known_cost_usd: usd }) {
  if (known === "unknown") return t("unknown");
  const cost = money(usd);
  return known === "about" ? t("about {cost}", { cost }) : known === "at_least" ? t("at least {cost}", { cost }) : cost;
}

/** `cross-examination` as `Cross-examination`. */
export function titled(word) {
  const words = word.replace(/[_]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The place of a turn in the page; the program makes the same of it. */
export function turnPlace(id) {
  return `turn-${id.split(/\s+/).join("_")}`;
}

/** Two letters that stand for a name. */
export function initials(name) {
  const words = name.trim().split(/[\s\-_]+/u).filter(Boolean);
  if (!words.length) return "?";
  const letters = words.length > 1 ? [...words[0]][0] + [...words[words.length - 1]][0] : [...words[0]].slice(0, /^[\x00-\x7f]/.test(words[0]) ? 2 : 1).join("");
  return letters.toUpperCase();
}

/** A sentence without what only its form asked for: a heading's sign, a number of its own, and the mark
 * of whom it speaks to. */
export function bare(text) {
  return text
    .replace(/(^|\s)#{1,6}\s+(?:Position\b:?\s*)?/g, "$1")
    .replace(/^\s*[A-Z]\d{1,2}:\s+(?=\S)/, "")
    .replace(/\[@[^\]\n]*\bR\d+\]:?\s*/g, "")
    .trim();
}

/** What only somebody at a command line can do. */
const COMMAND_LINE = /(?:^|\s)--\w|\broundtable [a-z]|\b\w+\.toml\b|`declaration`/;

/** Options of a command line, code, and names of models such as maker/model-1. */
const TECHNICAL = /--\w|`|\b[a-z][\w.-]*\/[a-z][\w.:-]*\d|https?:|\{"/i;
/** Characters beyond which a cause is no headline. */
const LONGEST_CAUSE = 170;

/** Why there is no answer, in one sentence. What only the makers understand is no headline: it is
    told below it. */
export function plainly(kind, text) {
  if (!["failed", "stopped"].includes(kind) || (!TECHNICAL.test(text) && text.length <= LONGEST_CAUSE)) return text;
  return kind === "failed" ? t("It failed before there was an answer.") : t("It was stopped before there was an answer.");
}

/** A remedy without the sentences that only a command line understands: the page has its own ways. */
export function forPeople(remedy) {
  return (remedy || "").split(/(?<=[.;])\s+/).filter((each) => !COMMAND_LINE.test(each)).join(" ");
}
