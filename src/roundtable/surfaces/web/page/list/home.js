// The owner's pages: all decisions, and the form that starts one. The address says which.
import { useLayoutEffect, useState } from "../vendor/hooks.js";
import { Icon } from "../icons.js";
import { listenToKeys } from "../keys.js";
import { LanguageChoice } from "../languages.js";
import { Brand, Dialog } from "../parts.js";
import { Start } from "../start/start.js";
import { nextTheme, ThemeButton } from "../themes.js";
import { html } from "../ui.js";
import { t } from "../words.js";
import { List } from "./list.js";

const NEW = "#new";

export function Home() {
  const [starting, setStarting] = useState(location.hash === NEW);
  const [help, setHelp] = useState(false);
  useLayoutEffect(() => {
    const changed = () => {
      setStarting(location.hash === NEW);
      scrollTo(0, 0);
    };
    addEventListener("hashchange", changed);
    setStarting(location.hash === NEW); // it may have changed before anybody listened
    return () => removeEventListener("hashchange", changed);
  }, []);
  useLayoutEffect(() => listenToKeys({
    "/": () => document.getElementById("find") && document.getElementById("find").focus(),
    n: () => {
      location.hash = NEW;
    },
    t: () => nextTheme(),
    "?": () => setHelp(true),
  }), []);
  const keys = [["n", t("new decision")], ["/", t("search")], ["t", t("light, dark, system")], ["?", t("this help")]];
  return html`<a class="skip" href=${starting ? "#start" : "#list"} onClick=${(event) => {
      event.preventDefault();
      document.getElementById(starting ? "start" : "list").focus();
    }}>${starting ? t("Skip to the question") : t("Skip to the decisions")}</a>
    <header class="bar home-bar"><div class="wrap">
      <${Brand} href="/" />
      ${starting && html`<a class="crumb" href="/">${t("All decisions")}</a>`}
      <span class="push"></span>
      <${ThemeButton} /><button type="button" class="quiet icon" aria-label=${t("Keyboard, language, help")} title=${t("Keyboard, language, help")} onClick=${() => setHelp(true)}><${Icon} name="help" /></button></div></header>
    ${starting ? html`<${Start} />` : html`<${List} />`}
    ${help && html`<${Dialog} title=${t("Keyboard, language, help")} onClose=${() => setHelp(false)}>
      <dl class="keys">${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl><${LanguageChoice} /><//>`}`;
}
