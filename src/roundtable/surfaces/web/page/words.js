// The words of the interface. The English text is the key: what has no translation is said in English.
// `words/*.json` hold the other languages; a file on disk carries them all.

const KNOWN = ["de", "es", "zh"];
const STORED = "roundtable-language";
let language = "en";
let words = {};
let plurals = null;
let numbers = null;

/** The language of the interface: the chosen one, otherwise the first of the reader's that we have. */
function wanted() {
  try {
    const chosen = localStorage.getItem(STORED);
    if (chosen === "en" || KNOWN.includes(chosen)) return chosen;
  } catch {
    // A file from disk may have no storage.
  }
  for (const each of navigator.languages || []) {
    const name = each.slice(0, 2).toLowerCase();
    if (name === "en" || KNOWN.includes(name)) return name;
  }
  return "en";
}

/** Before anything is drawn. */
export async function learnWords() {
  language = wanted();
  document.documentElement.lang = language;
  if (language === "en") return;
  const carried = document.getElementById("words");
  try {
    words = carried ? JSON.parse(carried.textContent)[language] : await (await fetch(`/assets/words/${language}.json`)).json();
  } catch {
    // English is better than nothing.
    language = document.documentElement.lang = "en";
  }
}

export function languageNow() {
  return language;
}

/** For dates and numbers: the interface's language, in the reader's own kind of it. */
export function localeNow() {
  return (navigator.languages || []).find((each) => each.slice(0, 2).toLowerCase() === language) || language;
}

/** In another language from now on; the page is drawn anew. */
export function speak(name) {
  try {
    localStorage.setItem(STORED, name);
  } catch {
    return;
  }
  location.reload();
}

function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function known(key) {
  return Object.hasOwn(words, key) ? words[key] : "";
}

/** A text of the interface, with `{name}` filled in. */
export function t(text, values = {}) {
  return filled(known(text) || text, values);
}

/** A text with a number in it, in the form that the number asks for. `{n}` is the number. */
export function n(number, one, many, values = {}) {
  const told = known(`${one}|${many}`);
  const forms = told ? told.split("|") : [one, many];
  // To make one of these takes longer than to use it a thousand times.
  plurals = plurals || new Intl.PluralRules(language);
  numbers = numbers || new Intl.NumberFormat(localeNow());
  return filled(plurals.select(number) === "one" ? forms[0] : forms[forms.length - 1], { n: numbers.format(number), ...values });
}

/** A text that stands in a table and is said with `t` later: so it is found, and translated. */
export function later(text) {
  return text;
}

/** The two forms of a text that is said with `n` later. */
export function laterCounted(one, many) {
  return [one, many];
}
