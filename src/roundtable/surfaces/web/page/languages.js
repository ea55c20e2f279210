// In which language the interface speaks. What people said stays in theirs.
import { html } from "./ui.js";
import { languageNow, speak, t } from "./words.js";

const NAMES = [["en", "English"], ["de", "Deutsch"], ["es", "Español"], ["zh", "中文"]];

export function LanguageChoice() {
  const now = languageNow();
  return html`<label class="language">${t("Language of this page")}<select onChange=${(event) => speak(event.target.value)}>${NAMES.map(([id, name]) => html`<option value=${id} lang=${id} selected=${id === now}>${name}</option>`)}</select></label>`;
}
