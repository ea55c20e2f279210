// The page's fold, without a browser: `node --test` runs it.
import assert from "node:assert/strict";
import { test } from "node:test";

const { EMPTY, cost, doing, person, reduce } = await import(process.env.REDUCER);

const at = "2026-01-02T12:00:00+00:00";
const who = (id) => ({ id, name: id.toUpperCase(), role: "", emoji: "", perspective: "", models: [`m/${id}`], demonstration: false });

function numbered(...events) {
  return events.map((event, n) => ({ seq: n + 1, at, ...event }));
}

const opened = { type: "DiscussionOpened", topic: "Tea?", procedure: "council", participants: [who("ann"), who("bob")], host: who("host"), language: "auto", budget: {}, material: [], program_version: "9" };
const stage = { type: "StageOpened", stage: "answer", round: 1, turns: ["1/answer/ann", "1/answer/bob"] };
const started = (id, attempt = 1, purpose = "answer") => ({ type: "AttemptStarted", turn_id: `1/answer/${id}`, attempt, stage: "answer", round: 1, participant: id, model: `m/${id}`, purpose, may_cost: true });
const finished = (id, attempt = 1, more = {}) => ({ type: "AttemptFinished", turn_id: `1/answer/${id}`, attempt, served_by: "", finish_reason: "stop", seconds: 1, usage: { input_tokens: 10, output_tokens: 5, priced_usd: 0.01, unpriced_calls: 0 }, ...more });
const failed = (id, cause) => ({ type: "AttemptFailed", turn_id: `1/answer/${id}`, attempt: 1, cause, message: "", remedy: "" });
const speech = (id, more = {}) => ({ type: "SpeechGiven", turn_id: `1/answer/${id}`, stage: "answer", round: 1, after_round: 0, participant: id, model: `m/${id}`, flags: [], words: 1, html: "<p>Tea.</p>", ...more });

test("an opened discussion has its topic and its people", () => {
  const state = reduce(EMPTY, numbered(opened));
  assert.equal(state.topic, "Tea?");
  assert.equal(state.status, "running");
  assert.deepEqual(state.seats, ["ann", "bob"]);
  assert.equal(person(state, "coordinator").id, "host");
});

test("who speaks, who has spoken and who is absent is known", () => {
  const state = reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann"), speech("ann"), started("bob")));
  assert.equal(doing(state, "ann"), "spoke");
  assert.equal(doing(state, "bob"), "speaking");
  const later = reduce(state, [{ seq: 7, at, type: "TurnFailed", turn_id: "1/answer/bob", stage: "answer", round: 1, participant: "bob", cause: "timeout", message: "No answer.", remedy: "Wait." }]);
  assert.equal(doing(later, "bob"), "absent");
  assert.equal(later.rounds[0].items[1].remedy, "Wait.");
});

test("events that were taken in already change nothing, and a gap is told", () => {
  const events = numbered(opened, stage, started("ann"), finished("ann"), speech("ann"));
  const state = reduce(EMPTY, events);
  assert.deepEqual(reduce(state, events), state);
  const gapped = reduce(state, [{ seq: 9, at, type: "DiscussionPaused", by: "x", reason: "" }]);
  assert.equal(gapped.gap, true);
  assert.equal(gapped.seq, 5);
  assert.equal(gapped.paused, null);
});

test("in pieces or at once, the state is the same", () => {
  const events = numbered(opened, stage, started("ann"), started("bob"), finished("ann"), speech("ann"), finished("bob"), speech("bob"), { type: "RoundsExtended", rounds: 2, by: "host" }, { type: "DiscussionClosed", status: "concluded", stop_reason: "verdict", detail: "", remedy: "" });
  const piecewise = events.reduce((state, event) => reduce(state, [event]), EMPTY);
  assert.deepEqual(piecewise, reduce(EMPTY, events));
});

test("raised limits open it again where it ended, and what was expected is known", () => {
  const expected = { calls: 4, cost_usd: 0.2 };
  const over = numbered({ ...opened, budget: { max_calls: 2 } }, { type: "CostEstimated", expected }, stage, started("ann"), finished("ann"), speech("ann"),
    { type: "BudgetExhausted", limit: "calls", detail: "2 of 2" }, { type: "DiscussionClosed", status: "failed", stop_reason: "budget", detail: "", remedy: "" });
  const ended = reduce(EMPTY, over);
  assert.deepEqual(ended.expected, expected);
  assert.deepEqual(ended.spent, { limit: "calls" });
  const raised = { seq: 9, at, type: "LimitsRaised", budget: { max_calls: 9 }, by: "the owner", limits_from: {}, turns: ["1/answer/ann"] };
  const next = reduce(ended, [raised]);
  assert.deepEqual([next.status, next.closed, next.spent, next.verdict], ["running", null, null, null]);
  assert.deepEqual(next.budget, { max_calls: 9 });
  assert.equal(next.derivesAt, 9);
  const items = next.rounds.flatMap((round) => round.items);
  assert.ok(items.some((item) => item.id === "1/answer/ann~9"), "what was said before stays to be read");
  assert.ok(items.some((item) => item.what === "raised"));
  assert.deepEqual(ended.closed.stop_reason, "budget", "the state before is not changed");
});

test("a limit that is lowered or added opens nothing again", () => {
  const begun = numbered({ ...opened, budget: { max_calls: 2 } }, stage, started("ann"), finished("ann"), speech("ann"),
    { type: "DiscussionPaused", by: "host", reason: "" });
  const limited = { seq: 7, at, type: "LimitsRaised", budget: { max_calls: 1, max_cost_usd: 0 }, by: "a cap", limits_from: {}, turns: [] };
  const paused = reduce(reduce(EMPTY, begun), [limited]);
  assert.deepEqual(paused.budget, limited.budget);
  assert.ok(paused.paused, "it stays paused");
  const spent = reduce(reduce(EMPTY, begun), [{ seq: 7, at, type: "BudgetExhausted", limit: "calls", detail: "" }, { ...limited, seq: 8 }]);
  assert.deepEqual(spent.spent, { limit: "calls" });
});

test("what a batch does not touch stays the same object", () => {
  const events = numbered(opened, stage, started("ann"), finished("ann"), speech("ann"));
  const state = reduce(EMPTY, events);
  const frozen = JSON.stringify(state);
  const next = reduce(state, [{ seq: 6, at, ...speech("bob", { round: 2, turn_id: "2/answer/bob" }) }]);
  assert.equal(next.rounds[0], state.rounds[0]);
  assert.notEqual(next.rounds, state.rounds);
  assert.equal(next.sat, state.sat);
  assert.equal(JSON.stringify(state), frozen);
});

test("a speech carries the marks that a reader has to know", () => {
  const state = reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann"),
    { type: "ParticipantSubstituted", participant: "ann", turn_id: "1/answer/ann", from_model: "m/ann", to_model: "m/spare", cause: "garbled", remedy: "" },
    started("ann", 2, "repair"), finished("ann", 2, { finish_reason: "length", served_by: "m/other" }), speech("ann", { flags: ["[unstructured response]", "[truncated]"] })));
  const kinds = state.rounds[0].items[0].marks.map((mark) => mark.kind);
  assert.deepEqual(kinds, ["flag", "flag", "repaired", "substituted", "served", "truncated"]);
  const thrown = reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann"),
    started("ann", 2, "repair"), finished("ann", 2, { finish_reason: "length" }), speech("ann")));
  assert.deepEqual(thrown.rounds[0].items[0].marks.map((mark) => mark.kind), ["repaired"], "what counts is whole");
});

test("only the answer that counts is marked as cut off", () => {
  const told = (flags) => reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann"), speech("ann", { flags }))).rounds[0].items[0].marks.slice(flags.length);
  const cut = (text) => [{ kind: "truncated", text }];
  assert.deepEqual(told(["[truncated]"]), cut("cut off at its length limit"));
  assert.deepEqual(told(["[truncated]", "[cut off by the limit]"]), cut("cut off by the budget"));
  assert.deepEqual(told(["[no declaration]"]), []);
});

test("the cost is unknown as soon as one call may have been charged for", () => {
  const known = reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann")));
  assert.equal(cost(known.usage), 0.01);
  assert.equal(known.usage.input_tokens, 10);
  const lost = reduce(EMPTY, numbered(opened, stage, started("ann"), failed("ann", "timeout")));
  assert.equal(cost(lost.usage), null);
  const refused = reduce(EMPTY, numbered(opened, stage, started("ann"), failed("ann", "rate_limited")));
  assert.equal(cost(refused.usage), 0);
});

test("host words stand after the round they came after, and acts where the talk is", () => {
  const state = reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann"), speech("ann"),
    speech("host", { turn_id: "0/remark/coordinator-1", round: 0, after_round: 1, participant: "host", stage: "remark" }),
    { type: "DiscussionPaused", by: "the host", reason: "lunch" }, { type: "DiscussionResumed", by: "the host" }));
  assert.deepEqual(state.rounds.map((round) => round.place), [1]);
  assert.deepEqual(state.rounds[0].items.map((item) => item.kind), ["speech", "speech", "act", "act"]);
  assert.equal(state.paused, null);
});

test("an event of a kind that this page does not know is passed over", () => {
  const state = reduce(EMPTY, numbered(opened, { type: "SomethingNew", of: "later" }, stage));
  assert.equal(state.seq, 3);
});

test("whoever is asked again after an interruption is not told as having answered badly", () => {
  const lost = reduce(EMPTY, numbered(opened, stage, started("ann"), failed("ann", "lost"), started("ann", 2, "retry")));
  assert.equal(lost.speaking["1/answer/ann"].interrupted, true);
  const gone = reduce(EMPTY, numbered(opened, stage, started("ann"), started("ann", 2, "retry")));
  assert.equal(gone.speaking["1/answer/ann"].interrupted, true);
  const wrong = reduce(EMPTY, numbered(opened, stage, started("ann"), finished("ann"), started("ann", 2, "repair")));
  assert.equal(wrong.speaking["1/answer/ann"].interrupted, false);
});
