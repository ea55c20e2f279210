// Light, dark, or as the system has it.
import { useState } from "./vendor/hooks.js";
import { Icon } from "./icons.js";
import { html } from "./ui.js";
import { later, t } from "./words.js";

const ORDER = ["system", "light", "dark"];
const NAMES = { system: later("as the system has it"), light: later("light"), dark: later("dark") };

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
  const told = t("Theme: {theme}", { theme: t(NAMES[theme]) });
  return html`<button type="button" class="quiet icon" title=${told} aria-label=${told} onClick=${() => set(nextTheme())}><${Icon} name="theme" /></button>`;
}
