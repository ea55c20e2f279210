// One discussion as this page knows it: the fold of its events, what the server derived, the words
// that are being spoken, and whether the connection stands. Components subscribe to it.
import { get } from "./api.js";
import { follow } from "./feed.js";
import { EMPTY, reduce } from "./reducer.js";

/** Milliseconds after an event, and between two questions, for what the server derives. */
const SOON = 120;
const APART = 700;
/** Milliseconds between two looks whether the link still opens, while nothing else would tell. */
const LOOK = 15000;

/** The words of turns that are still being spoken. They are no events, and are never kept. */
class Drafts {
  constructor() {
    this.words = new Map();
    this.ears = new Map();
    this.changed = new Set();
    this.timer = 0;
  }

  take({ turn_id: turn, text, begins, words }) {
    const held = this.words.get(turn) || "";
    this.words.set(turn, text !== undefined ? text : begins !== undefined ? held.slice(0, begins) + words : held + words);
    this.changed.add(turn);
    // Many words may come within one frame; they are drawn together.
    if (!this.timer) this.timer = setTimeout(() => this.tell(), 50);
  }

  drop(turn) {
    this.words.delete(turn);
  }

  tell() {
    this.timer = 0;
    for (const turn of this.changed) for (const ear of this.ears.get(turn) || []) ear(this.words.get(turn) || "");
    this.changed.clear();
  }

  listen(turn, ear) {
    if (!this.ears.has(turn)) this.ears.set(turn, new Set());
    this.ears.get(turn).add(ear);
    return () => this.ears.get(turn).delete(ear);
  }
}

/** What is the same as before stays the very same, so that it is not drawn again. */
function shared(before, now) {
  if (!before) return now;
  const kept = {};
  for (const [name, value] of Object.entries(now)) {
    const old = before[name];
    kept[name] = old && typeof old === "object" && JSON.stringify(old) === JSON.stringify(value) ? old : value;
  }
  return kept;
}

export class Store {
  /** `saved` holds events and what was derived, where the page is a file. */
  constructor(base, saved = null) {
    this.base = base;
    this.drafts = new Drafts();
    this.ears = new Set();
    this.asked = 0;
    this.askedAt = -APART;
    this.timer = 0;
    this.now = {
      state: saved ? reduce(EMPTY, saved.events) : EMPTY,
      derived: saved ? saved.derived : null,
      connection: saved ? "file" : "connecting",
      gone: null,
      /** Whether the server's database does not answer. */
      away: false,
      /** Whether it waits until the server can carry one more. */
      waiting: false,
      /** What the server derives was asked for and did not come. */
      unread: false,
    };
    if (!saved) this.begin();
  }

  begin() {
    this.derive();
    this.feed = follow(this.base, {
      events: (events) => this.take(events),
      driven: () => this.later(),
      away: ({ away, waiting }) => (this.now.away !== away || this.now.waiting !== waiting) && this.set({ away, waiting }),
      draft: (draft) => this.drafts.take(draft),
      connection: (connection) => this.set({ connection }),
      gone: (gone) => this.set({ gone, connection: "lost" }),
      over: () => this.now.state.closed !== null,
    }, () => this.now.state.seq);
    this.looks = setInterval(() => this.look(), LOOK);
    this.seen = () => this.look();
    addEventListener("focus", this.seen);
    document.addEventListener("visibilitychange", this.seen);
  }

  /** Whether the link still opens: whoever ended it must not be believed to share it still. */
  async look() {
    if (document.hidden || this.now.gone || this.now.connection === "connecting") return;
    try {
      await get(`${this.base}/events?after=${this.now.state.seq}&limit=1`);
    } catch (error) {
      if (error.status === 404 || error.status === 401) this.set({ gone: error, connection: "lost" });
    }
  }

  stop() {
    clearTimeout(this.timer);
    clearInterval(this.looks);
    if (this.seen) {
      removeEventListener("focus", this.seen);
      document.removeEventListener("visibilitychange", this.seen);
    }
    if (this.feed) this.feed.stop();
  }

  subscribe(ear) {
    this.ears.add(ear);
    return () => this.ears.delete(ear);
  }

  set(change) {
    this.now = { ...this.now, ...change };
    for (const ear of this.ears) ear(this.now);
  }

  take(events) {
    for (const event of events) {
      if (event.type === "SpeechGiven" || event.type === "TurnFailed") this.drafts.drop(event.turn_id);
    }
    const state = reduce(this.now.state, events);
    this.set({ state });
    if (state.gap) this.feed.resume();
    if (state.derivesAt > this.asked) this.later();
  }

  later() {
    if (this.timer) return;
    const wait = Math.max(SOON, this.askedAt + APART - performance.now());
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.derive();
    }, wait);
  }

  async derive() {
    this.asked = this.now.state.derivesAt;
    this.askedAt = performance.now();
    try {
      const derived = await get(`${this.base}/derived`);
      if (!this.now.derived || derived.seq >= this.now.derived.seq) this.set({ derived: shared(this.now.derived, derived), unread: false });
    } catch {
      if (!this.now.derived) this.set({ unread: true });
      this.asked = 0; // asked again with the next event, or when the connection is back
      if (this.now.state.closed) this.later();
      return;
    }
    if (this.now.state.derivesAt > this.asked) this.later();
  }
}
