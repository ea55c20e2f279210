// What a procedure lets one choose beside the seats, made from its own declarations.
import { titled } from "../format.js";
import { html } from "../ui.js";
import { t } from "../words.js";

const PLACEHOLDERS = { list: "A, B, C", pairs: "name=model, name=model" };

export function Option({ option, value, onChange }) {
  const about = html`${titled(option.name)} ${option.about && html`<span class="soft about-option">${option.about}</span>`}`;
  if (option.kind === "flag") return html`<label class="choice"><input type="checkbox" checked=${Boolean(value)} onChange=${(event) => onChange(event.target.checked)} /> <span>${about}</span></label>`;
  if (option.kind === "choice") {
    return html`<label>${about}<select onChange=${(event) => onChange(event.target.value)}><option value="">${option.usual ? t("As usual: {usual}", { usual: option.usual }) : t("As usual")}</option>
      ${option.choices.map((each) => html`<option value=${each} selected=${value === each}>${each}</option>`)}</select></label>`;
  }
  const number = option.kind === "number";
  return html`<label>${about}<input type=${number ? "number" : "text"} min=${number ? option.minimum : undefined} max=${number ? option.maximum : undefined} step=${number ? (option.whole ? 1 : "any") : undefined} value=${value || ""} placeholder=${PLACEHOLDERS[option.kind] || option.usual || t("As usual")} onInput=${(event) => onChange(event.target.value)} /></label>`;
}

export function Options({ chosen, more, setMore, advanced = false }) {
  return (chosen ? chosen.options : [])
    .filter((each) => !each.part && each.advanced === advanced)
    .map((each) => html`<${Option} key=${each.name} option=${each} value=${more[each.name]} onChange=${(value) => setMore({ ...more, [each.name]: value })} />`);
}
