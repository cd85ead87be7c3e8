/**
 * A signal that aborts after so many milliseconds, also as a part of an `AbortSignal.any`: Node forgets a timeout that
 * nothing else refers to when it collects garbage. A listener keeps it.
 */
export function deadline(ms: number): AbortSignal {
  const signal = AbortSignal.timeout(ms);
  signal.addEventListener('abort', () => undefined);
  return signal;
}
