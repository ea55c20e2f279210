// One speech: its position in a line, and all of it when it is opened.
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { whenNear } from "../frames.js";
import { turnPlace } from "../format.js";
import { Alert, Face, languageOf, seatClass, Time, Words } from "../parts.js";
import { html, memo } from "../ui.js";
import { later, t } from "../words.js";
import { AlsoDeclared, Declared, positionOf } from "./declared.js";
import { MADE, OPEN, useFold } from "./folds.js";

/** Of what the program noted about a speech, what its reader has to know. */
const NOTED = {
  "cut off at its length limit": later("It was cut off at its length limit."),
  "cut off by the budget": later("It was cut off by the budget."),
  "[no declaration]": later("It declared nothing that can be counted."),
  "[refusal beside a declaration]": later("It declines to answer, and declares all the same."),
  "[words and declaration differ]": later("Its words and what it declared differ."),
  "asked again": later("This was asked again; what was said then counts."),
};

export const Speech = memo(function Speech({ item, who, folds, named, nameOf }) {
  const place = turnPlace(item.id);
  const how = useFold(folds, item.id);
  const open = how === OPEN || how === MADE;
  const failed = item.kind === "failure";
  const position = failed ? { text: t("No answer"), sure: null, own: true } : positionOf(item, named);
  const toggle = () => folds.set([item.id], open ? "" : MADE);
  return html`<article class=${`speech ${seatClass(who)}${open ? " unfolded" : ""}`} id=${place} tabindex="-1" aria-labelledby=${`${place}-name`}>
    <h4><button type="button" class="line" id=${`${place}-line`} aria-expanded=${open ? "true" : "false"} aria-controls=${open ? `${place}-said` : undefined} onClick=${toggle}>
      <${Face} who=${who} kind=${failed ? "out" : ""} /><b class="name" id=${`${place}-name`}><bdi>${who.name}</bdi></b>
      <span class=${`pos${position.own ? "" : " said-first"}${failed ? " failed" : ""}`} dir="auto" lang=${languageOf(position.text)}>${position.text}</span>
      <span class="sure">${position.sure !== null && html`<bdi>${t("{n} % sure", { n: position.sure })}</bdi>`}</span>
    </button></h4>
    ${open && html`<div class="said" id=${`${place}-said`}>
      ${failed
        ? html`<${Alert} title=${t("No answer")} text=${item.message} remedy=${item.remedy} />`
        : html`<${Body} item=${item} atOnce=${how === MADE} folds=${folds} named=${named} nameOf=${nameOf} />`}
      <p class="about">
        ${item.model === "outside" && html`<span>${t("Spoken by hand")}</span>`}
        <${Time} at=${item.at} />
        ${item.marks.filter((mark) => NOTED[mark.text]).map((mark) => html`<span class="chip warn">${t(NOTED[mark.text])}</span>`)}
        <a class="anchor" href=${`#${encodeURI(place)}`} aria-label=${t("Link to this speech of {name}", { name: who.name })}>${t("Link")}</a>
      </p>
    </div>`}
  </article>`;
});

/** The words. Where everything is opened at once, they are made when they come near the window. */
function Body({ item, atOnce, folds, named, nameOf }) {
  const [near, setNear] = useState(atOnce);
  const place = useRef(null);
  const made = near || atOnce;
  useEffect(() => {
    if (made) return undefined;
    return whenNear(place.current, () => setNear(true));
  }, [made]);
  useLayoutEffect(() => {
    if (made) folds.tell();
  }, [made]);
  if (!made) return html`<div class="unmade" ref=${place} style=${{ "--words": String(item.words) }}></div>`;
  return html`<${Declared} lines=${item.declared} named=${named} nameOf=${nameOf} />
    ${item.html && html`<${Words} markup=${item.html} under=${4} named=${named} />`}
    <${AlsoDeclared} lines=${item.declared} named=${named} nameOf=${nameOf} />`;
}
