// The procedures as people call them; the program's own names are small.
import { titled } from "./format.js";
import { later, t } from "./words.js";

/** By the program's name, in the order of the form: what it is called, and what is done. */
export const WAYS = {
  council: [later("Quick opinions"), later("Three views, a short exchange, one answer")],
  deliberation: [later("Weigh a decision"), later("Each answers alone, then they reply and vote")],
  "five-round": [later("Detailed plan"), later("Proposals, criticism, a plan with weeks and owners")],
  adaptive: [later("Work on a text or code"), later("A panel made for the material you bring")],
  meeting: [later("A meeting I take part in"), later("They speak in turn, and so do you")],
};

/** What people call a procedure. */
export function plainName(procedure) {
  const name = procedure.replace(/^custom:/, "");
  return WAYS[name] ? t(WAYS[name][0]) : titled(name);
}
