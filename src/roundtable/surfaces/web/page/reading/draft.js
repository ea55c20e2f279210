// Words as they come. They may still be thrown away, and look like it.
import { useEffect, useState } from "../vendor/hooks.js";
import { Face, languageOf, seatClass } from "../parts.js";
import { html, memo } from "../ui.js";
import { t } from "../words.js";

export const Draft = memo(function Draft({ turn, who, drafts }) {
  const [words, set] = useState(drafts.words.get(turn.turn_id) || "");
  useEffect(() => {
    set(drafts.words.get(turn.turn_id) || "");
    return drafts.listen(turn.turn_id, set);
  }, [turn.turn_id]);
  return html`<article class=${`speech draft ${seatClass(who)}`} aria-label=${t("{name} is writing", { name: who.name })}>
    <p class="line"><${Face} who=${who} /><b class="name"><bdi>${who.name}</bdi></b>
      ${!words && html`<span class="thinking"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span> ${t("thinking")}</span>`}</p>
    ${words && html`<div class="words growing" dir="auto" lang=${languageOf(words)}>${words}</div>`}
  </article>`;
});
