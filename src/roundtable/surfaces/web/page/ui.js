// What every component is made with: Preact, templates as HTML, and memory for what did not change.
import { Component, createElement } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export const html = htm.bind(createElement);

/** The component, drawn again only when one of its properties is another one. */
export function memo(draw) {
  return class extends Component {
    shouldComponentUpdate(next) {
      const now = this.props;
      const names = Object.keys(next);
      return names.length !== Object.keys(now).length || names.some((name) => next[name] !== now[name]);
    }
    render(properties) {
      return html`<${draw} ...${properties} />`;
    }
  };
}
