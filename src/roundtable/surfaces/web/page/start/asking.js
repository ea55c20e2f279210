// Asking the program while somebody types: once nothing was changed for a moment, and the newest
// answer counts.
import { useEffect, useState } from "../vendor/hooks.js";

const TYPED = 600;

/** The value, once it was not changed for a moment. */
export function useSettled(value, wait = TYPED) {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), wait);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** The newest answer to a question that may be asked anew before it is answered. With `keep` the last
 * one stands until the next one comes. */
export function useAnswer(ask, on, keep = false) {
  const [answer, set] = useState({ value: null, error: null, busy: false });
  useEffect(() => {
    if (!ask && keep) {
      set((before) => ({ ...before, busy: true }));
      return undefined;
    }
    if (!ask) {
      set({ value: null, error: null, busy: false });
      return undefined;
    }
    let wanted = true;
    set((before) => ({ ...before, busy: true }));
    ask().then(
      (value) => wanted && set({ value, error: null, busy: false }),
      (error) => wanted && set({ value: null, error, busy: false }),
    );
    return () => {
      wanted = false;
    };
  }, on);
  return answer;
}
