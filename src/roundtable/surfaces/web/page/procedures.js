// The procedures as people call them; the program's own names are small.
import { titled } from "./format.js";
import { later, t } from "./words.js";

/** By the program's name, in the order of the form: what it is called, and what is done. */
export const WAYS = {
  council: [later("Three angles"), later("Evidence, analysis and a fresh look, weighed into one answer")],
  deliberation: [later("Weigh a decision"), later("Each answers alone, then they reply and vote")],
  "five-round": [later("Detailed plan"), later("Proposals, criticism, a plan with weeks and owners")],
  adaptive: [later("Work the table plans itself"), later("To build, attack or compare something")],
  meeting: [later("A meeting I take part in"), later("They speak in turn, and so do you")],
};

/** What people call a procedure. */
export function plainName(procedure) {
  const name = procedure.replace(/^custom:/, "");
  return WAYS[name] ? t(WAYS[name][0]) : titled(name);
}
