/** How many test notices a person may send at once, and how soon there is room for another one. */
export const PUSH_TESTS_MAX = 5;
export const PUSH_TEST_EVERY_MS = 120_000;

const ALL_MS = PUSH_TESTS_MAX * PUSH_TEST_EVERY_MS;

/**
 * Sends one more test now. `fullAt`: when all tests are there again. `waitMs`: how long to wait if none is left now. A
 * clock that went back must not keep anybody waiting for longer than an empty budget would.
 */
export function spendPushTest(
  fullAt: number,
  now: number,
): { readonly fullAt: number; readonly waitMs: number } {
  const before = Math.min(Math.max(fullAt, now), now + ALL_MS);
  const after = before + PUSH_TEST_EVERY_MS;
  const waitMs = Math.max(0, after - now - ALL_MS);
  return { fullAt: waitMs > 0 ? before : after, waitMs };
}
