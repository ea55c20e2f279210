// Words found in the page: where they stand, and marks on them that change nothing in the page.

const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, td, th, pre, blockquote, div, br, hr, button";
const SAME = { "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'", "–": "-", "—": "-", "‑": "-", "\u00a0": " " };
const ODD = /[“”„«»‘’‚–—‑\u00a0]/g;

/** Letters as they are compared: one for each, so that places stay places. */
export function folded(text) {
  const low = text.toLowerCase();
  return (low.length === text.length ? low : text).replace(ODD, (each) => SAME[each]);
}

/** The text of an element with the place of every letter of it; blanks are one blank. */
function read(root) {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  let text = "";
  const nodes = [];
  const places = [];
  const blank = (node, at) => {
    if (!text || text.endsWith(" ")) return;
    text += " ";
    nodes.push(node);
    places.push(at);
  };
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.matches(BLOCKS) && nodes.length) blank(nodes[nodes.length - 1], places[places.length - 1] + 1);
      continue;
    }
    const letters = folded(node.data);
    for (let at = 0; at < letters.length; at += 1) {
      if (/\s/.test(letters[at])) blank(node, at);
      else {
        text += letters[at];
        nodes.push(node);
        places.push(at);
      }
    }
  }
  return { text, nodes, places };
}

function rangeOf({ nodes, places }, from, to) {
  const range = document.createRange();
  range.setStart(nodes[from], places[from]);
  range.setEnd(nodes[to - 1], Math.min(places[to - 1] + 1, nodes[to - 1].length));
  return range;
}

/** Every place in an element where these words stand. */
export function rangesOf(root, words) {
  const wanted = folded(words).replace(/\s+/g, " ").trim();
  if (!wanted) return [];
  const held = read(root);
  const found = [];
  for (let at = held.text.indexOf(wanted); at >= 0; at = held.text.indexOf(wanted, at + wanted.length)) {
    found.push(rangeOf(held, at, at + wanted.length));
  }
  return found;
}

/** Where a quotation stands: whole, else its longest part that was not left out, else its beginning. */
export function quotedIn(root, words) {
  const bare = words.replace(/^[\s"“„«'‘]+|[\s"”“»'’]+$/g, "");
  const parts = bare.split(/\s*(?:…|\.\.\.|\[[^\]]*\])\s*/).sort((one, two) => two.length - one.length);
  const tries = [bare, parts[0], parts[0].replace(/[.,;:!?。]+$/, ""), parts[0].split(" ").slice(0, 8).join(" ")];
  for (const each of tries) {
    if (folded(each).trim().length < 6) continue;
    const [found] = rangesOf(root, each);
    if (found) return found;
  }
  return null;
}

/** Marks these places under a name that the style sheet knows; no places take the marks away. */
export function mark(name, ranges) {
  if (!window.CSS || !CSS.highlights) return;
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
  else CSS.highlights.delete(name);
}
