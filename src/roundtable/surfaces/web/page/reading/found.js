// Words that somebody comes with from the list: they stand behind the address, and are looked for.

const FIND = "find=";

export function finding(words) {
  return `${FIND}${encodeURIComponent(words)}`;
}

/** The words in an address, without the marks of a phrase; empty if there are none. */
export function soughtIn(hash) {
  if (!hash.startsWith(`#${FIND}`)) return "";
  try {
    return decodeURIComponent(hash.slice(FIND.length + 1)).replace(/["“”„]/g, "").trim();
  } catch {
    return "";
  }
}
