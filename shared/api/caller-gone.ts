import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/** A signal that aborts if the connection closes before the answer is complete. */
export function callerGone(outgoing: ServerResponse | Http2ServerResponse): {
  readonly signal: AbortSignal;
  stop(): void;
} {
  const controller = new AbortController();
  const onClose = (): void => controller.abort();
  // The `close` event fires only once and may have fired already.
  if (outgoing.destroyed || outgoing.closed || outgoing.socket?.destroyed) onClose();
  outgoing.once('close', onClose);
  return {
    signal: controller.signal,
    stop: () => {
      outgoing.off('close', onClose);
    },
  };
}
