// What a round is, in plain words. A stage's own name is never shown: these are known, any other is
// simply a round.
import { later, t } from "../words.js";

/** How it is called, and how where everybody wrote without seeing the others. */
const STAGES = {
  answer: [later("Round {n}, first answers"), later("Round {n}, first answers, written without seeing the others")],
  proposal: [later("Round {n}, first proposals"), later("Round {n}, first proposals, written without seeing the others")],
  critique: [later("Round {n}, replies to each other")],
  "critique-in-reverse": [later("Round {n}, the replies once more in another order, as a check")],
  "cross-examination": [later("Round {n}, they question each other")],
  "cross-reference": [later("Round {n}, each goes through the others’ proposals")],
  revision: [later("Round {n}, revised answers")],
  "second-stage": [later("Round {n}, building on the first answers")],
  draft: [later("Round {n}, drafts of a joint statement")],
  ranking: [later("Round {n}, the drafts are ranked")],
  ballot: [later("Round {n}, final votes")],
  confirm: [later("Round {n}, which of the options each one means")],
  declaration: [later("Round {n}, what they hold, stated again")],
};
const OTHERS = [later("Round {n}"), later("Round {n}, written without seeing the others")];
const OUTSIDE_ROUNDS = {
  validation: later("They check the written answer"),
  recheck: later("They check the written answer again"),
  "meta-panel": later("How the work is to be done"),
};
/** What the host says to the table. Anything else of the host's is work on it. */
const TO_THE_TABLE = "remark";

export function roundTitle(place) {
  return place ? t("Round {n}", { n: place }) : t("Before the first round");
}

function named(place, group, procedure, first) {
  const custom = procedure.startsWith("custom:");
  const outside = !custom && OUTSIDE_ROUNDS[group.stage];
  if (outside) return t(outside);
  if (!place) return roundTitle(0);
  const blind = group.items.length > 1 && group.items.every((item) => item.independent || item.kind === "failure") && group.items.some((item) => item.independent);
  const known = custom ? null : STAGES[group.stage];
  if (!known && !first) return t("Round {n}, continued", { n: place });
  const [plain, alone] = known || OTHERS;
  return t(blind && alone ? alone : plain, { n: place });
}

/** A round as it is read: what was said in each of its stages, and what the host did meanwhile. */
export function grouped(round, state) {
  const groups = [];
  const hosted = [];
  for (const item of round.items) {
    const ours = item.kind !== "act" && (item.stage === TO_THE_TABLE || isSeated(state, item.participant));
    if (!ours) {
      hosted.push(item);
      continue;
    }
    const stage = item.stage === TO_THE_TABLE && groups.length ? groups[groups.length - 1].stage : item.stage;
    let group = groups.find((each) => each.stage === stage);
    if (!group) {
      group = { stage, items: [] };
      groups.push(group);
    }
    group.items.push(item);
  }
  groups.forEach((group, place) => {
    group.title = named(round.place, group, state.procedure, place === 0);
    group.id = place ? `round-${round.place}-${place + 1}` : `round-${round.place}`;
    // One after another means something; whoever wrote at once stands as seated.
    if (group.stage in STAGES) group.items.sort((one, two) => seatOf(state, one) - seatOf(state, two));
  });
  return { groups, hosted };
}

function isSeated(state, id) {
  const found = state.sat[id];
  return Boolean(found) && !(state.host && id === state.host.id);
}

function seatOf(state, item) {
  const found = state.sat[item.participant];
  return found ? found.number : -1;
}
