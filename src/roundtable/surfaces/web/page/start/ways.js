// How the table works, in plain words; the program's own name for it is small.
import { titled } from "../format.js";
import { plainName, WAYS } from "../procedures.js";
import { html } from "../ui.js";
import { t } from "../words.js";

const ORDER = Object.keys(WAYS);

export function Ways({ procedures, chosen, onChoose }) {
  const known = ORDER.map((name) => procedures.find((each) => each.built_in && each.name === name)).filter(Boolean);
  const others = procedures.filter((each) => !known.includes(each));
  const way = (each) => html`<label key=${each.name}><input type="radio" name="procedure" value=${each.name} checked=${chosen === each.name} disabled=${Boolean(each.error)} onChange=${() => onChoose(each.name)} />
    <b>${plainName(each.name)}</b><span dir="auto">${WAYS[each.name] ? t(WAYS[each.name][1]) : each.error || each.summary}</span>
    <small>${WAYS[each.name] ? titled(each.name) : each.built_in ? "" : t("your own")}</small></label>`;
  return html`<fieldset class="blk"><legend><h2>${t("How should they work?")}</h2></legend>
    <div class="ways">${known.map(way)}</div>
    ${others.length > 0 && html`<div class="ways own">${others.map(way)}</div>`}
  </fieldset>`;
}
