import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/** A signal that is aborted when the connection closes before the answer is out. */
export function callerGone(outgoing: ServerResponse | Http2ServerResponse): {
  readonly signal: AbortSignal;
  stop(): void;
} {
  const controller = new AbortController();
  const onClose = (): void => controller.abort();
  // It tells so once only, and that may have been before anybody listened.
  if (outgoing.destroyed || outgoing.closed || outgoing.socket?.destroyed) onClose();
  outgoing.once('close', onClose);
  return {
    signal: controller.signal,
    stop: () => {
      outgoing.off('close', onClose);
    },
  };
}
