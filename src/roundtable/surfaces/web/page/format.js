// Times in the reader's own zone, amounts, and other small words.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const NUMBER = new Intl.NumberFormat("en");
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export function clock(at) {
  return CLOCK.format(new Date(at));
}

export function whole(at) {
  return FULL.format(new Date(at));
}

export function day(at) {
  return DAY.format(new Date(at));
}

/** `3 minutes ago`, or the day if that was long ago. */
export function ago(at, now = Date.now()) {
  const seconds = (new Date(at) - now) / 1000;
  for (const [unit, size, most] of [["second", 1, 60], ["minute", 60, 60], ["hour", 3600, 24], ["day", 86400, 7]]) {
    if (Math.abs(seconds / size) < most) {
      return unit === "second" && Math.abs(seconds) < 10 ? "just now" : RELATIVE.format(Math.round(seconds / size), unit);
    }
  }
  return day(at);
}

export function count(number) {
  return NUMBER.format(number);
}

/** 12,345 as 12.3k where there is little room. */
export function short(number) {
  if (number < 1000) return String(number);
  if (number < 1_000_000) return `${(number / 1000).toFixed(number < 10_000 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** What nobody knows is never zero. */
export function money(usd) {
  if (usd === null || usd === undefined) return "unknown";
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
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
