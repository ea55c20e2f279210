// Markup that came over the wire becomes elements only if its tags and attributes are on these lists.
// The program hardens it already; this is the second door, and it does not trust the first.

import { t } from "./words.js";

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const words = (text) => new Set(text.trim().split(/\s+/));

const TAGS = words(`
  p h1 h2 h3 h4 h5 h6 a ul ol li blockquote pre code em strong s br hr table thead tbody tr th td div span
`);
const ATTRIBUTES = words("href title dir class start tabindex aria-label");
const CLASSES = words("scroll end middle cite verified proof leads image");
const SHAPES = words("svg g defs use path rect circle text title desc line polyline tspan");
const DRAWN = words(`
  id class viewBox width height role aria-labelledby fill fill-opacity stroke stroke-width stroke-opacity
  stroke-dasharray opacity x y x1 y1 x2 y2 cx cy r rx d points transform text-anchor font-size
  font-family font-weight unicode-bidi href
`);
const OUTSIDE = /^(?:https?:\/\/[^/?#\s]|mailto:[^\s])/i;

/** The words of others as elements, with their headings below one of level `under`. */
export function safeHtml(markup, under) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  const made = document.createDocumentFragment();
  copy(parsed.body, made, element);
  level(made, under);
  return made;
}

/** No heading is more than one step below the one before it, whatever its author thought. */
function level(made, under) {
  const headings = [...made.querySelectorAll("h1, h2, h3, h4, h5, h6")];
  const highest = Math.min(...headings.map((each) => Number(each.localName[1])));
  let before = under;
  for (const heading of headings) {
    const wanted = under + 1 + Number(heading.localName[1]) - highest;
    before = Math.min(6, wanted, before + 1);
    const other = document.createElement(`h${before}`);
    other.dir = heading.dir;
    other.append(...heading.childNodes);
    heading.replaceWith(other);
  }
}

/** A picture as elements, or nothing if it is none. */
export function safeSvg(markup) {
  const parsed = new DOMParser().parseFromString(markup, "image/svg+xml");
  const made = document.createDocumentFragment();
  if (parsed.documentElement.namespaceURI === SVG) copyOne(parsed.documentElement, made, shape);
  return made;
}

function copy(from, to, make) {
  for (const node of from.childNodes) copyOne(node, to, make);
}

function copyOne(node, to, make) {
  if (node.nodeType === Node.TEXT_NODE) {
    to.append(node.data);
  } else if (node.nodeType === Node.ELEMENT_NODE) {
    const made = make(node);
    if (made) {
      to.append(made);
      copy(node, made, make);
    }
  }
}

function element(node) {
  return node.namespaceURI === HTML ? safeElement(node.localName, node.attributes) : null;
}

/** An element of this name with those of the attributes (`{ name, value }`) that are on the lists;
 * null if the name is not. */
export function safeElement(called, attributes = []) {
  if (!TAGS.has(called)) return null;
  const made = document.createElement(called);
  for (const { name, value } of attributes) {
    if (!ATTRIBUTES.has(name)) continue;
    if (name === "class") {
      const kept = value.split(/\s+/).filter((each) => CLASSES.has(each));
      if (kept.length) made.className = kept.join(" ");
    } else if (name !== "href" || value.startsWith("#") || OUTSIDE.test(value)) {
      made.setAttribute(name, value);
    }
  }
  if (made.localName === "a" && OUTSIDE.test(made.getAttribute("href") || "")) {
    made.rel = "noopener noreferrer nofollow";
    made.target = "_blank";
  }
  if (made.classList.contains("scroll")) {
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", t("Table"));
  }
  return made;
}

function shape(node) {
  if (node.namespaceURI !== SVG || !SHAPES.has(node.localName)) return null;
  const made = document.createElementNS(SVG, node.localName);
  for (const { name, value } of node.attributes) {
    if (DRAWN.has(name) && (name !== "href" || value.startsWith("#"))) made.setAttribute(name, value);
  }
  return made;
}
