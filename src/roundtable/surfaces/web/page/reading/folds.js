// Which speeches are open. A row listens for itself, so that to open one draws one.
import { useLayoutEffect, useState } from "../vendor/hooks.js";
import { afterFrame } from "../frames.js";

/** Open, and its words are made when they come near the window; open, and they are made at once. */
export const OPEN = "open";
export const MADE = "made";

const AT_ONCE = 16;

/** All of these, a few in each frame, as long as they are wanted: what is laid out with one frame
 * never becomes so much that the page stands still. */
function slowly(list, act, wanted, from = 0) {
  list.slice(from, from + AT_ONCE).forEach(act);
  if (list.length > from + AT_ONCE) afterFrame(() => wanted() && slowly(list, act, wanted, from + AT_ONCE));
}

export class Folds {
  constructor() {
    this.held = new Map();
    this.ears = new Map();
    this.watchers = new Set();
    /** What a row is of which nobody has said anything. */
    this.usual = "";
    this.frame = 0;
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
    const told = [...this.ears].filter(([, ears]) => ears.size);
    const tell = ([id, ears]) => {
      for (const ear of ears) ear(this.is(id));
    };
    // On paper everything is there at once; on the screen the page must not stand still for it.
    if (usual === MADE) told.forEach(tell);
    else slowly(told, tell, () => usual === this.usual);
    this.tell();
  }

  /** Something was opened, folded or made. Many such within a frame are told once. */
  tell() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      slowly([...this.watchers], (watcher) => watcher(), () => true);
    });
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
  // Before it is painted: what is printed at once is opened at once.
  useLayoutEffect(() => {
    set(folds.is(id));
    return folds.listen(id, set);
  }, [folds, id]);
  return how;
}
