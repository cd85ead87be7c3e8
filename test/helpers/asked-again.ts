/**
 * A held call that fails is cut if its status has gone, which it has after 3 s: on a slow machine, any of them. Asks
 * again, as clients do, and gives that answer.
 */
export function askedAgain<T>(call: () => Promise<T>): Promise<T> {
  return call().catch(call);
}
