// Light, dark, or as the system has it.
import { useState } from "./vendor/hooks.js";
import { html } from "./ui.js";

const ORDER = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

function chosen() {
  return document.documentElement.dataset.theme || "system";
}

export function nextTheme() {
  const next = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length];
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    if (next === "system") localStorage.removeItem("roundtable-theme");
    else localStorage.setItem("roundtable-theme", next);
  } catch {
    // It holds until the page is closed.
  }
  return next;
}

export function ThemeButton() {
  const [theme, set] = useState(chosen());
  return html`<button type="button" class="quiet icon" title=${`Theme: ${theme}`} aria-label=${`Theme: ${theme}. Change it`} onClick=${() => set(nextTheme())}>${SIGNS[theme]}</button>`;
}
