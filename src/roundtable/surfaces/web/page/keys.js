// The keyboard: one letter where nothing is being typed.

/** Calls `keys[letter]`; returns what ends it. */
export function listenToKeys(keys) {
  const pressed = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog")) return;
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

/** Go to the next (1) or the one before (-1) of these elements, counted from where the reader is. */
export function step(selector, by) {
  const all = [...document.querySelectorAll(selector)];
  if (!all.length) return;
  const here = document.activeElement && document.activeElement.closest(selector);
  let at = all.indexOf(here);
  if (at < 0) {
    const top = all.findIndex((each) => each.getBoundingClientRect().bottom > 90);
    at = top < 0 ? all.length : by > 0 ? top - 1 : top;
  }
  const next = all[Math.min(all.length - 1, Math.max(0, at + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
}
