// Which speeches are open. A row listens for itself, so that to open one draws one.
import { useEffect, useState } from "../vendor/hooks.js";

/** Open, and its words are made when they come near the window; open, and they are made at once. */
export const OPEN = "open";
export const MADE = "made";

export class Folds {
  constructor() {
    this.held = new Map();
    this.ears = new Map();
    this.watchers = new Set();
    /** What a row is of which nobody has said anything. */
    this.usual = "";
  }

  is(id) {
    return this.held.has(id) ? this.held.get(id) : this.usual;
  }

  /** `how` is OPEN, MADE or "" for folded. */
  set(ids, how) {
    for (const id of ids) {
      if (this.is(id) === how || (how === OPEN && this.is(id) === MADE)) continue;
      this.held.set(id, how);
      for (const ear of this.ears.get(id) || []) ear(how);
    }
    this.tell();
  }

  /** Everything, also what is not there yet. Returns what brings back how it was. */
  all(how) {
    const { held, usual } = this;
    this.put(new Map(), how);
    return () => this.put(held, usual);
  }

  put(held, usual) {
    this.held = held;
    this.usual = usual;
    for (const [id, ears] of this.ears) for (const ear of ears) ear(this.is(id));
    this.tell();
  }

  tell() {
    for (const each of this.watchers) each();
  }

  listen(id, ear) {
    if (!this.ears.has(id)) this.ears.set(id, new Set());
    this.ears.get(id).add(ear);
    return () => this.ears.get(id).delete(ear);
  }

  watch(ear) {
    this.watchers.add(ear);
    return () => this.watchers.delete(ear);
  }
}

/** How one of them is, as it changes. */
export function useFold(folds, id) {
  const [how, set] = useState(folds.is(id));
  useEffect(() => {
    set(folds.is(id));
    return folds.listen(id, set);
  }, [folds, id]);
  return how;
}
