// The bar on top of a discussion: where one is, finding, taking it along, the theme, help.
import { useEffect, useRef } from "./vendor/hooks.js";
import { Brand } from "./parts.js";
import { ThemeButton } from "./themes.js";
import { html } from "./ui.js";

export function Bar({ base, saved, chairs, finder, onHelp }) {
  return html`<header class="bar">
    <${Brand} href=${chairs ? "/" : ""} />
    ${finder}
    ${!saved && html`<${Exports} base=${base} chairs=${chairs} />`}
    <${ThemeButton} />
    <button type="button" class="quiet icon" aria-label="Keyboard and help" title="Keyboard and help" onClick=${onHelp}>?</button>
  </header>`;
}

function Exports({ base, chairs }) {
  const place = useRef(null);
  useEffect(() => {
    const outside = (event) => {
      if (place.current.open && !place.current.contains(event.target)) place.current.open = false;
    };
    const escaped = (event) => {
      if (event.key === "Escape" && place.current.open) {
        place.current.open = false;
        place.current.querySelector("summary").focus();
      }
    };
    document.addEventListener("click", outside);
    document.addEventListener("keydown", escaped);
    return () => {
      document.removeEventListener("click", outside);
      document.removeEventListener("keydown", escaped);
    };
  }, []);
  const forms = [
    ["export.page", "This page", "one HTML file that works from disk"],
    ["export.html", "Report, HTML", "to print, to send; no script in it"],
    ["export.md", "Report, Markdown", "to read and paste"],
    ["export.json", "JSON", "for programs"],
    ...(chairs ? [["bundle", "Verified bundle", "every event and prompt, hash-chained"]] : []),
  ];
  return html`<details class="menu" ref=${place}><summary>Export</summary>
    <ul>${forms.map(([path, name, what]) => html`<li><a href=${`${base}/${path}`} download><strong>${name}</strong><span class="faint small">${what}</span></a></li>`)}
      <li><button type="button" class="quiet" onClick=${() => print()}><strong>Print</strong><span class="faint small">or save as PDF</span></button></li></ul>
  </details>`;
}
