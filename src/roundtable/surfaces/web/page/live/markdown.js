// Words that are still being spoken, as Markdown. What was drawn stays; only what is new is read. Every
// element passes the list of safe.js: no raw HTML, no images, no links that lead anywhere odd.
import {
  BLOCKQUOTE, CHECKBOX, CODE_BLOCK, CODE_FENCE, CODE_INLINE, EQUATION_BLOCK, EQUATION_INLINE, HEADING_1, HEADING_6,
  HREF, IMAGE, ITALIC_AST, ITALIC_UND, LINE_BREAK, LINK, LIST_ITEM, LIST_ORDERED, LIST_UNORDERED, PARAGRAPH, RAW_URL,
  RULE, START, STRIKE, STRONG_AST, STRONG_UND, TABLE, TABLE_CELL, TABLE_ROW, parser, parser_write,
} from "../vendor/smd.js";
import { citedAs } from "../parts.js";
import { safeElement } from "../safe.js";

const TAGS = {
  [PARAGRAPH]: "p", [BLOCKQUOTE]: "blockquote", [LINE_BREAK]: "br", [RULE]: "hr", [ITALIC_AST]: "em", [ITALIC_UND]: "em",
  [STRONG_AST]: "strong", [STRONG_UND]: "strong", [STRIKE]: "s", [CODE_INLINE]: "code", [LIST_UNORDERED]: "ul",
  [LIST_ORDERED]: "ol", [LIST_ITEM]: "li", [LINK]: "a", [RAW_URL]: "a", [IMAGE]: "span", [CHECKBOX]: "span",
  [EQUATION_BLOCK]: "span", [EQUATION_INLINE]: "span",
};
/** Characters that are read at once; signs that may be kept back before it is taken for no Markdown. */
const PIECE = 1000;
const MOST_PENDING = 4000;
const DEEPEST = 20;
/** What may be shown before it is certain that it begins nothing: letters, figures, ends of sentences. */
const HARMLESS = /^[\p{L}\p{N}\s.,;:?…)”"'’，。；：？！）、-]+$/u;

function made(called, attributes = {}) {
  return safeElement(called, Object.entries(attributes).map(([name, value]) => ({ name, value })));
}

/** A place that a growing text is drawn into. Headings are below one of level `under`. */
export class Growing {
  constructor(root, under) {
    this.root = root;
    this.under = under;
    this.text = "";
    this.begin();
  }

  begin() {
    this.root.replaceChildren();
    this.open = [{ node: this.root }];
    this.heading = { highest: 0, before: this.under };
    this.tail = null;
    this.plain = null;
    this.parser = parser({
      data: this,
      add_token: (self, kind) => self.add(kind),
      end_token: (self) => self.end(),
      add_text: (self, text) => self.say(text),
      set_attr: (self, kind, value) => self.mark(kind, value),
    });
  }

  /** The whole text so far. */
  write(text) {
    if (!text.startsWith(this.text)) {
      this.text = "";
      this.begin();
    }
    const more = text.slice(this.text.length);
    this.text = text;
    if (!more) return;
    if (this.plain) {
      this.plain.appendData(more);
      return;
    }
    try {
      if (this.tail) this.tail.remove();
      for (let at = 0; at < more.length; at += PIECE) {
        parser_write(this.parser, more.slice(at, at + PIECE));
        if (this.parser.pending.length > MOST_PENDING || this.open.length > DEEPEST) throw new RangeError("no Markdown");
      }
      this.showTail();
    } catch {
      this.giveUp();
    }
  }

  /** A text that is no Markdown is shown as it is written. */
  giveUp() {
    this.plain = document.createTextNode(this.text);
    const whole = made("p");
    whole.append(this.plain);
    this.root.replaceChildren(whole);
  }

  /** The last letters are kept back until they are certain; readers need not wait for that. */
  showTail() {
    const { pending, len } = this.parser;
    this.tail = len > 0 && this.open.length > 1 && HARMLESS.test(pending) ? document.createTextNode(pending) : null;
    if (this.tail) this.node.append(this.tail);
  }

  get node() {
    return this.open[this.open.length - 1].node;
  }

  add(kind) {
    let parent = this.node;
    let node;
    if (kind >= HEADING_1 && kind <= HEADING_6) node = made(`h${this.level(kind - HEADING_1 + 1)}`);
    else if (kind === CODE_FENCE || kind === CODE_BLOCK) {
      parent = parent.appendChild(made("pre"));
      node = made("code");
    } else if (kind === TABLE) {
      parent = parent.appendChild(made("div", { class: "scroll", tabindex: "0" }));
      node = made("table");
    } else if (kind === TABLE_ROW) {
      const part = parent.children.length < 2 ? parent.appendChild(made(parent.children.length ? "tbody" : "thead")) : parent.children[1];
      parent = part;
      node = made("tr");
    } else if (kind === TABLE_CELL) {
      node = made(parent.parentElement && parent.parentElement.localName === "thead" ? "th" : "td");
    } else node = made(TAGS[kind] || "span", kind === IMAGE ? { class: "image" } : {});
    if (kind === PARAGRAPH || kind === LIST_ITEM) node.dir = "auto";
    parent.append(node);
    this.open.push({ node, kind, href: "" });
    if (kind === CHECKBOX) node.append("☐ ");
    if (kind === EQUATION_INLINE || kind === EQUATION_BLOCK) node.append("$");
  }

  end() {
    const { node, kind, href } = this.open.pop();
    if (kind === LINK && !href) {
      // Brackets that lead nowhere are brackets, or cite a speech.
      const text = node.textContent;
      const cited = citedAs(text);
      if (cited !== text) node.replaceWith(`(${cited})`);
      else node.replaceWith("[", ...node.childNodes, "]");
    } else if (kind === LINK || kind === RAW_URL) {
      const link = made("a", { href });
      if (link.hasAttribute("href")) link.append(...node.childNodes);
      node.replaceWith(...(link.hasAttribute("href") ? [link] : node.childNodes));
    } else if (kind === EQUATION_INLINE || kind === EQUATION_BLOCK) node.append("$");
  }

  say(text) {
    const { node } = this;
    if (node.lastChild && node.lastChild.nodeType === Node.TEXT_NODE) node.lastChild.appendData(text);
    else node.append(text);
  }

  mark(kind, value) {
    const now = this.open[this.open.length - 1];
    if (kind === HREF) now.href = value;
    else if (kind === START && /^\d{1,6}$/.test(value)) now.node.setAttribute("start", value);
    else if (now.kind === CHECKBOX) now.node.textContent = "☑ ";
  }

  /** No heading is more than one step below the one before it. */
  level(wanted) {
    const { heading } = this;
    if (!heading.highest) heading.highest = wanted;
    heading.before = Math.min(6, heading.before + 1, Math.max(this.under + 1, this.under + 1 + wanted - heading.highest));
    return heading.before;
  }
}
