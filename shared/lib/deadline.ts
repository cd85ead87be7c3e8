/**
 * A signal that aborts after `ms` milliseconds, and may be given to `AbortSignal.any`. Node drops a plain
 * `AbortSignal.timeout` there when it collects garbage, unless the timeout has a listener.
 */
export function deadline(ms: number): AbortSignal {
  const signal = AbortSignal.timeout(ms);
  signal.addEventListener('abort', () => undefined);
  return signal;
}
