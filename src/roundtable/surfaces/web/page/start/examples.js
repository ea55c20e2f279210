// Recorded decisions that come with the program: to look at before there is a key.
import { useEffect, useState } from "../vendor/hooks.js";
import { get } from "../api.js";
import { languageOf } from "../parts.js";
import { html } from "../ui.js";

/** They never change; without them the page is whole, too. */
export function useExamples() {
  const [examples, set] = useState([]);
  useEffect(() => {
    get("/api/examples").then((found) => set(found.examples), () => {});
  }, []);
  return examples;
}

export function ExampleLinks({ examples }) {
  return html`<ul class="example-links">${examples.map((each) => html`<li key=${each.name}><a href=${new URL(each.url, location.href).pathname} dir="auto" lang=${languageOf(each.title)} title=${each.question}>${each.title}</a></li>`)}</ul>`;
}
