// The bar on top of a discussion: where one is, finding, taking it along, sharing, the theme, help.
import { useEffect, useRef, useState } from "./vendor/hooks.js";
import { Icon } from "./icons.js";
import { Brand } from "./parts.js";
import { Share } from "./share.js";
import { ThemeButton } from "./themes.js";
import { html } from "./ui.js";
import { t } from "./words.js";

export function Bar({ base, info, state, saved, finder, onPrint, onHelp }) {
  const [sharing, setSharing] = useState(false);
  return html`<header class="bar">
    <${Brand} href=${info.owns ? "/" : ""} />
    ${info.owns ? html`<a class="crumb" href="/">${t("All decisions")}</a>` : html`<span class="crumb"></span>`}
    ${finder}
    ${!saved && html`<${Exports} base=${base} leads=${info.leads} onPrint=${onPrint} />
      <button type="button" class="quiet" onClick=${() => setSharing(true)}><${Icon} name="share" /><span class="hide">${t("Share")}</span></button>`}
    <${ThemeButton} />
    <button type="button" class="quiet icon" aria-label=${t("Keyboard, language, help")} title=${t("Keyboard, language, help")} onClick=${onHelp}><${Icon} name="help" /></button>
    ${sharing && html`<${Share} base=${base} info=${info} state=${state} onClose=${() => setSharing(false)} />`}
  </header>`;
}

function Exports({ base, leads, onPrint }) {
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
    ["export.page", t("This page"), t("one HTML file that works from disk")],
    ["export.html", t("Report, HTML"), t("to print and to send; no script in it")],
    ["export.md", t("Report, Markdown"), t("to read and paste")],
    ["export.json", t("JSON"), t("for programs")],
    ...(leads ? [["bundle", t("Verified bundle"), t("every event and prompt, hash-chained")]] : []),
  ];
  return html`<details class="menu" ref=${place}><summary><${Icon} name="export" /><span class="hide">${t("Export")}</span></summary>
    <ul>${forms.map(([path, name, what]) => html`<li><a href=${`${base}/${path}`} download><strong>${name}</strong><span class="soft xs">${what}</span></a></li>`)}
      <li><button type="button" class="quiet" onClick=${onPrint}><strong>${t("Print")}</strong><span class="soft xs">${t("or save as PDF")}</span></button></li></ul>
  </details>`;
}
