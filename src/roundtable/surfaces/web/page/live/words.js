// The course of a discussion in plain words: what happens now, what comes, how long it takes.
import { n, t } from "../words.js";

/** What happens now, in one sentence. */
const NOW = {
  casting: () => t("The host is choosing the experts"),
  brief: () => t("The host is preparing the question"),
  answers: ({ round, rounds }) => (rounds > 1 ? t("Round {round} of {rounds}: first answers, nobody sees the others yet", { round, rounds }) : t("First answers, nobody sees the others yet")),
  replies: ({ round, rounds, hidden }) => {
    if (hidden) return t("Round {round} of {rounds}: replies, authors hidden", { round, rounds });
    return rounds ? t("Round {round} of {rounds}: replies", { round, rounds }) : t("Round {round}: replies", { round });
  },
  discussion: ({ round, rounds }) => (rounds > 1 ? t("Round {round} of {rounds}: discussion", { round, rounds }) : t("Discussion")),
  summary: () => t("The host is summing up the round"),
  list: () => t("The host is listing where they differ"),
  vote: () => t("The vote: what is still open is asked and read back"),
  answer: () => t("The answer is being written and checked"),
  check: () => t("The answer is being checked"),
};

/** A step in the strip: its title, and what happens in it. */
const STEPS = {
  answers: ({ round }) => [t("Round {round}: first answers", { round }), t("Nobody sees the others yet")],
  replies: ({ round, hidden }) => [t("Round {round}: replies", { round }), hidden ? t("They read each other, without names") : t("They read each other")],
  discussion: ({ round }) => [t("Round {round}", { round }), t("Everybody speaks once")],
  vote: () => [t("Vote"), t("Counted, read back")],
  answer: () => [t("Answer"), t("Written and checked")],
};

export function nowSentence(course) {
  const now = course && course.now;
  if (!now) return t("The table is being set");
  const { rounds } = course;
  const round = Math.min(now.round, rounds || now.round);
  if (NOW[now.kind]) return NOW[now.kind]({ ...now, round, rounds });
  return now.round ? t("Round {round}: {name}", now) : now.name;
}

export function stepWords(step) {
  return (STEPS[step.kind] || (() => [step.kind, ""]))(step);
}

/** Never to the second. */
export function usually(seconds) {
  if (seconds < 50) return t("Usually less than a minute");
  return n(Math.round(seconds / 60), "Usually about {n} minute", "Usually about {n} minutes");
}

/** How long it may still take; nothing where that is not known, or is over already. */
export function leftOver(usual, elapsed) {
  const left = usual - elapsed;
  if (!usual || left < 10 || left < usual * 0.1) return "";
  if (left < 50) return t("Less than a minute left");
  return n(Math.round(left / 60), "About {n} minute left", "About {n} minutes left");
}

/** How long it has gone on, as a clock that nobody has to watch. */
export function elapsedWords(seconds) {
  if (seconds < 60) return t("Began just now");
  if (seconds < 5400) return n(Math.floor(seconds / 60), "{n} minute", "{n} minutes");
  return n(Math.round(seconds / 3600), "{n} hour", "{n} hours");
}

export const DOING = {
  thinking: () => t("Thinking"),
  writing: () => t("Writing"),
  spoke: () => t("Has spoken"),
  absent: () => t("Absent"),
  called: () => t("Called to speak"),
  waiting: () => t("Waits"),
};
