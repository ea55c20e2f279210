// The page's state is a fold of the events, as the program's is. Pure: no clock, no network, no DOM.
// `reduce` takes a whole batch, and copies only what the batch changes, so that components can tell
// by identity what they need not draw again.

/** After these the provider may have done the work and charged for it. */
const INTERRUPTED = new Set(["lost", "cancelled"]);
const MAYBE_PAID = new Set(["timeout", "cut", "cancelled", "lost", "empty", "garbled", "refused"]);
/** The field of a budget that holds each limit. */
const LIMITS = { calls: "max_calls", tokens: "max_tokens", cost: "max_cost_usd", time: "max_seconds" };

/** Events after which only the server can say what follows: positions, notes, whose turn it is. */
const DERIVES = new Set([
  "SpeechGiven", "TurnFailed", "StageOpened", "StageClosed", "ParticipantsSeated", "BallotCast",
  "ScoresGiven", "PointRaised", "PointsMerged", "StanceTaken", "NoteAdded", "ParticipantSubstituted",
  "BudgetExhausted", "SearchFailed", "DiscussionPaused", "DiscussionResumed", "RoundsExtended",
  "RoundAdvanced", "EndVoted", "VerdictReached", "DiscussionClosed", "DecisionsTabled", "StageReopened", "LimitsRaised",
]);

export const EMPTY = Object.freeze({
  seq: 0,
  gap: false,
  derivesAt: 0,
  openedAt: null,
  updatedAt: null,
  topic: "",
  procedure: "",
  status: "waiting",
  language: "auto",
  budget: {},
  spent: null,
  expected: null,
  version: "",
  host: null,
  seats: [],
  sat: {},
  rounds: [],
  turns: {},
  speaking: {},
  stage: null,
  seatsStage: null,
  material: [],
  votes: {},
  options: {},
  extraRounds: 0,
  paused: null,
  stopping: null,
  verdict: null,
  outcome: null,
  follows: "",
  followUps: [],
  closed: null,
  speeches: 0,
  usage: { calls: 0, input_tokens: 0, output_tokens: 0, priced_usd: 0, counted_usd: 0, unpriced_calls: 0 },
});

/** The state after these events. Those already taken in are passed over; a gap stops it, and is told. */
export function reduce(state, events) {
  const draft = { ...state, gap: false };
  const own = new Set();
  for (const event of events) {
    if (event.seq <= draft.seq) continue;
    if (event.seq !== draft.seq + 1) {
      draft.gap = true;
      break;
    }
    draft.seq = event.seq;
    draft.updatedAt = event.at;
    if (DERIVES.has(event.type)) draft.derivesAt = event.seq;
    const step = STEPS[event.type];
    if (step) step(draft, event, own);
  }
  return draft;
}

/** A slice of the draft that belongs to this batch and may be changed. */
function mine(draft, own, name) {
  if (!own.has(name)) {
    own.add(name);
    draft[name] = Array.isArray(draft[name]) ? [...draft[name]] : { ...draft[name] };
  }
  return draft[name];
}

/** What a call used, whatever came of it. */
function count(draft, own, used) {
  const usage = mine(draft, own, "usage");
  for (const name of ["input_tokens", "output_tokens", "priced_usd", "counted_usd", "unpriced_calls"]) usage[name] += used[name];
}

function add(draft, own, place, item) {
  const rounds = mine(draft, own, "rounds");
  let at = rounds.findIndex((round) => round.place >= place);
  if (at < 0) at = rounds.length;
  if (at === rounds.length || rounds[at].place !== place) {
    rounds.splice(at, 0, { place, items: [] });
    own.add(`round/${place}`);
  } else if (!own.has(`round/${place}`)) {
    own.add(`round/${place}`);
    rounds[at] = { place, items: [...rounds[at].items] };
  }
  rounds[at].items.push(item);
}

/** Where something stands that belongs to no round: at the newest one. */
function newest(draft) {
  return draft.rounds.length ? draft.rounds[draft.rounds.length - 1].place : 0;
}

function act(draft, own, event, what, more = {}) {
  add(draft, own, newest(draft), { kind: "act", id: `act-${event.seq}`, at: event.at, what, ...more });
}

function turn(draft, own, id) {
  const turns = mine(draft, own, "turns");
  if (!own.has(`turn/${id}`)) {
    own.add(`turn/${id}`);
    const held = turns[id] || { calls: [], substitutions: [] };
    turns[id] = { calls: [...held.calls], substitutions: [...held.substitutions] };
  }
  return turns[id];
}

function over(draft, own, id) {
  if (draft.speaking[id]) delete mine(draft, own, "speaking")[id];
}

/** What a reader has to know of these words. */
function marks(held, event) {
  const found = (event.flags || []).map((flag) => ({ kind: "flag", text: flag }));
  const last = held.calls[held.calls.length - 1];
  const repairs = held.calls.filter((call) => call.purpose === "repair").length;
  if (repairs) found.push({ kind: "repaired", text: "repaired", title: `asked again ${repairs}×: the first answer did not keep to its form` });
  const retries = held.calls.filter((call) => call.purpose === "retry").length;
  if (retries) found.push({ kind: "retried", text: `${retries + 1} tries`, title: "earlier calls failed" });
  for (const each of held.substitutions) {
    found.push({ kind: "substituted", text: `in place of ${each.from_model}`, title: `${each.to_model} spoke instead` });
  }
  if (last && last.served_by && last.served_by !== last.model) {
    found.push({ kind: "served", text: `served by ${last.served_by}` });
  }
  const flags = event.flags || [];
  const byBudget = flags.includes("[cut off by the limit]");
  // A repair that was cut was thrown away where what counts is not flagged: that is whole.
  const mends = last && (last.purpose === "repair" || last.purpose === "declare");
  if (byBudget || flags.includes("[truncated]") || (last && last.finish_reason === "length" && !mends)) {
    found.push({ kind: "truncated", text: byBudget ? "cut off by the budget" : "cut off at its length limit" });
  }
  return found;
}

function stageOf(event) {
  const seats = event.turns.map((id) => id.split("/").slice(2).join("/"));
  return { stage: event.stage, round: event.round, turns: event.turns, seats, open: true, together: false, spoke: [], missing: [] };
}

/** The newest stage, changed. The newest that seats hold stays in sight while the host works. */
function keepStage(draft, change) {
  const before = draft.stage;
  draft.stage = { ...before, ...change };
  if (draft.seatsStage === before) draft.seatsStage = draft.stage;
}

function seat(draft, own, people) {
  draft.seats = people.map((each) => each.id);
  const sat = mine(draft, own, "sat");
  for (const each of people) {
    const number = sat[each.id] ? sat[each.id].number : Object.keys(sat).length;
    sat[each.id] = { ...each, number };
  }
}

/** What earlier versions of the program kept beside a speech belongs to what it declares. */
function declares(draft, event, own) {
  if (!event.declared) return;
  const place = Number(event.turn_id.split("/", 1)[0]);
  const at = draft.rounds.findIndex((round) => round.place === place);
  const item = at < 0 ? -1 : draft.rounds[at].items.findIndex((each) => each.id === event.turn_id);
  if (item < 0 || !draft.rounds[at].items[item].declared) return;
  const rounds = mine(draft, own, "rounds");
  if (!own.has(`round/${place}`)) {
    own.add(`round/${place}`);
    rounds[at] = { place, items: [...rounds[at].items] };
  }
  const { items } = rounds[at];
  items[item] = { ...items[item], declared: [...items[item].declared, ...event.declared] };
}

/** What was said before stays to be read, under another id: its place is asked for again. */
function askedAgain(draft, event, own) {
  draft.rounds = draft.rounds.map(({ place, items }) => ({
    place,
    items: items.map((item) => (event.turns.includes(item.id)
      ? { ...item, id: `${item.id}~${event.seq}`, marks: [...(item.marks || []), { kind: "flag", text: "asked again" }] }
      : item)),
  }));
  for (const { place } of draft.rounds) own.add(`round/${place}`);
  own.add("rounds");
}

const STEPS = {
  DiscussionOpened(draft, event, own) {
    draft.openedAt = event.at;
    draft.topic = event.topic;
    draft.procedure = event.procedure;
    draft.language = event.language;
    draft.budget = event.budget;
    draft.version = event.program_version;
    draft.follows = event.follows || "";
    draft.status = "running";
    draft.host = { ...event.host, number: null };
    draft.material = event.material;
    seat(draft, own, event.participants);
  },
  ParticipantsSeated(draft, event, own) {
    const before = new Set(draft.seats);
    seat(draft, own, event.participants);
    const joined = draft.seats.filter((id) => !before.has(id)).map((id) => draft.sat[id].name);
    const left = [...before].filter((id) => !draft.seats.includes(id)).map((id) => draft.sat[id].name);
    if (joined.length || left.length) act(draft, own, event, "seated", { joined, left, reason: event.reason });
  },
  OutcomeRecorded(draft, event) {
    draft.outcome = { outcome: event.outcome, note: event.note };
  },
  WorkflowChosen(draft, event, own) {
    act(draft, own, event, "workflow", { workflow: event.workflow, rounds: event.rounds });
  },
  StageOpened(draft, event) {
    draft.stage = stageOf(event);
    if (draft.stage.seats.some((id) => draft.sat[id])) draft.seatsStage = draft.stage;
  },
  StageClosed(draft, event) {
    if (draft.stage && draft.stage.stage === event.stage && draft.stage.round === event.round) {
      keepStage(draft, { open: false, missing: event.missing });
    }
  },
  StageReopened(draft, event, own) {
    askedAgain(draft, event, own);
    draft.stage = stageOf(event);
    if (draft.stage.seats.some((id) => draft.sat[id])) draft.seatsStage = draft.stage;
    draft.status = "running";
    draft.verdict = draft.closed = draft.stopping = draft.paused = draft.spent = null;
  },
  FollowUpOpened(draft, event) {
    draft.followUps = [...draft.followUps, event.discussion_id];
  },
  AttemptStarted(draft, event, own) {
    // Whoever speaks beside others: the stage is held side by side.
    if (draft.stage && draft.stage.turns.includes(event.turn_id) && !draft.stage.together
      && Object.keys(draft.speaking).some((id) => id !== event.turn_id && draft.stage.turns.includes(id))) {
      keepStage(draft, { together: true });
    }
    const before = turn(draft, own, event.turn_id).calls.at(-1);
    turn(draft, own, event.turn_id).calls.push({ purpose: event.purpose, model: event.model, may_cost: event.may_cost });
    mine(draft, own, "speaking")[event.turn_id] = {
      turn_id: event.turn_id, participant: event.participant, model: event.model, stage: event.stage,
      round: event.round, place: event.round || newest(draft), attempt: event.attempt, since: event.at,
      // The process that asked before is gone: nothing was wrong with the answer.
      interrupted: Boolean(before && !before.finish_reason && (!before.cause || INTERRUPTED.has(before.cause))),
    };
    mine(draft, own, "usage").calls += 1;
  },
  AttemptFinished(draft, event, own) {
    const call = turn(draft, own, event.turn_id).calls[event.attempt - 1];
    if (call) Object.assign(call, { served_by: event.served_by, finish_reason: event.finish_reason });
    count(draft, own, event.usage);
  },
  AttemptFailed(draft, event, own) {
    const call = turn(draft, own, event.turn_id).calls[event.attempt - 1];
    if (call) call.cause = event.cause;
    if (event.usage) count(draft, own, event.usage);
    else if (call && call.may_cost && MAYBE_PAID.has(event.cause)) mine(draft, own, "usage").unpriced_calls += 1;
  },
  ParticipantSubstituted(draft, event, own) {
    turn(draft, own, event.turn_id).substitutions.push(event);
  },
  SpeechGiven(draft, event, own) {
    over(draft, own, event.turn_id);
    draft.speeches += 1;
    if (draft.stage && draft.stage.turns.includes(event.turn_id)) {
      keepStage(draft, { spoke: [...draft.stage.spoke, event.participant] });
    }
    add(draft, own, event.round || event.after_round, {
      kind: "speech", id: event.turn_id, at: event.at, participant: event.participant,
      stage: event.stage, model: event.model, words: event.words, html: event.html, first: event.first || "",
      independent: Boolean(event.independent), declared: event.declared || [],
      marks: marks(turn(draft, own, event.turn_id), event),
    });
  },
  BallotCast: declares,
  PointRaised: declares,
  StanceTaken: declares,
  TurnFailed(draft, event, own) {
    over(draft, own, event.turn_id);
    if (draft.stage && draft.stage.turns.includes(event.turn_id)) {
      keepStage(draft, { missing: [...draft.stage.missing, event.participant] });
    }
    const held = turn(draft, own, event.turn_id);
    const last = held.calls[held.calls.length - 1];
    add(draft, own, event.round || newest(draft), {
      kind: "failure", id: event.turn_id, at: event.at, participant: event.participant,
      stage: event.stage, model: last ? last.model : "", cause: event.cause, message: event.message,
      remedy: event.remedy, marks: marks(held, event),
    });
  },
  DecisionsTabled(draft, event, own) {
    const options = mine(draft, own, "options");
    for (const decision of event.decisions || []) for (const option of decision.options) options[option.id] = option.text;
    act(draft, own, event, "tabled", { decisions: event.decisions || [], given: event.given });
  },
  EndVoted(draft, event, own) {
    mine(draft, own, "votes")[event.participant] = event.in_favour;
    act(draft, own, event, "voted", { participant: event.participant, in_favour: event.in_favour });
  },
  RoundAdvanced(draft, event, own) {
    act(draft, own, event, "advanced", { round: event.round, by: event.by, absent: event.absent });
  },
  SearchFinished(draft, event, own) {
    act(draft, own, event, "searched", { query: event.query, provider: event.provider, hits: event.hits });
  },
  SearchFailed(draft, event, own) {
    act(draft, own, event, "search failed", { query: event.query, provider: event.provider, message: event.message });
  },
  ChoiceMade(draft, event, own) {
    act(draft, own, event, "chosen", { question: event.question, answer: event.answer, by: event.by });
  },
  BudgetExhausted(draft, event, own) {
    draft.spent = draft.spent || { limit: event.limit };
    act(draft, own, event, "budget", { limit: event.limit, detail: event.detail });
  },
  LimitsRaised(draft, event, own) {
    // What was only said because it was to end stays to be read, under another id.
    askedAgain(draft, event, own);
    const spent = draft.spent && LIMITS[draft.spent.limit];
    const higher = spent && event.budget[spent] > ((draft.budget || {})[spent] ?? Infinity);
    draft.budget = event.budget;
    if (higher) {
      draft.spent = null;
      draft.status = "running";
      draft.verdict = draft.closed = draft.stopping = null;
    }
    act(draft, own, event, "raised", { by: event.by });
  },
  CostEstimated(draft, event) {
    draft.expected = event.expected;
  },
  DiscussionPaused(draft, event, own) {
    draft.paused = { by: event.by, reason: event.reason, at: event.at };
    act(draft, own, event, "paused", { by: event.by, reason: event.reason });
  },
  DiscussionResumed(draft, event, own) {
    draft.paused = null;
    act(draft, own, event, "resumed", { by: event.by });
  },
  MaterialAdded(draft, event, own) {
    mine(draft, own, "material").push({ ...event.material, by: event.by });
    act(draft, own, event, "material", { source: event.material.source, characters: event.material.characters, by: event.by });
  },
  RoundsExtended(draft, event, own) {
    draft.extraRounds += event.rounds;
    act(draft, own, event, "extended", { rounds: event.rounds, by: event.by });
  },
  StopRequested(draft, event, own) {
    draft.stopping = { by: event.by, reason: event.reason };
    act(draft, own, event, "stop", { by: event.by, reason: event.reason });
  },
  VerdictReached(draft, event) {
    draft.verdict = { confidence: event.confidence, meaningful: event.meaningful, partial: event.partial, at: event.at };
  },
  DiscussionClosed(draft, event) {
    draft.status = event.status;
    draft.closed = { status: event.status, stop_reason: event.stop_reason, detail: event.detail, remedy: event.remedy, at: event.at };
    draft.speaking = {};
    draft.paused = null;
  },
};

/** Whoever has this id, also the host by its wire name. */
export function person(state, id) {
  if (state.host && (id === state.host.id || id === "coordinator")) return state.host;
  return state.sat[id] || { id, name: id, role: "", emoji: "", models: [], number: null };
}

/** What somebody at the table is doing now: speaking, spoke, absent, waiting. */
export function doing(state, id) {
  if (Object.values(state.speaking).some((each) => each.participant === id)) return "speaking";
  const stage = state.stage;
  if (!stage) return "waiting";
  if (stage.spoke.includes(id)) return "spoke";
  if (stage.missing.includes(id)) return "absent";
  return "waiting";
}

/** The whole cost, or null as soon as one call's cost is unknown. */
export function cost(usage) {
  return usage.unpriced_calls ? null : usage.priced_usd;
}

/** What of the cost was told, or counted by the program. */
export function knownCost(usage) {
  return usage.priced_usd + usage.counted_usd;
}
