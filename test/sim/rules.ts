const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * The interface's numbers and yes-or-no rules (sections 3.1, 3.2 and 8 of the specification) for the models. None comes
 * from the code under test.
 */
export const RULES = {
  /** The failure with this count makes an event dead. */
  attemptsMax: 5,
  /** A lease that runs out is a failure. */
  lapseCounts: true,
  /** Pauses after the first, second, … failure. */
  retryMs: [30_000, MINUTE_MS, 2 * MINUTE_MS, 4 * MINUTE_MS],
  /** So long behind its time something is over: at the very millisecond. */
  lateMs: 0,
  /** An older lease of the same key doesn't count. */
  fenced: true,
  /** Only the key that claimed an event can finish it. */
  holderOnly: true,
  requeueForgetsAttempts: true,
  idWindowMs: 30 * DAY_MS,
  bodyWindowMs: DAY_MS,
  retentionMs: 30 * DAY_MS,
  answerWindowMs: DAY_MS,
  pendingMax: 50,
  pendingPerKeyMax: 30,
  /** A decision never changes. */
  firstDecisionStands: true,
  /** A policy proposed against another version doesn't apply. */
  supersedes: true,
  /** `amount_lte` holds for the amount itself. */
  amountIncluded: true,
  /** After a failed delivery of a route. */
  pushPausesMs: [1, 5, 30, 120, 720].map((minutes) => minutes * MINUTE_MS),
};

export type Rules = typeof RULES;
