import type { Readable } from 'node:stream';

/**
 * A body of exactly so many bytes from a stream. A chunk is read when the one before has gone out, and none once the
 * client has left. `onEnd` runs once, with the number of bytes that went out. A stream that ends early is an error, so that
 * the client notices.
 */
export function measuredBody(
  source: Readable,
  sizeBytes: number,
  onEnd: (sentBytes: number) => void,
): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let sent = 0;
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    source.destroy();
    onEnd(sent);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await chunks.next();
          if (ended) return;
          if (next.done !== true) {
            sent += next.value.length;
            controller.enqueue(next.value);
            return;
          }
          if (sent !== sizeBytes) throw new Error(`${sent} bytes came out of ${sizeBytes}.`);
          end();
          controller.close();
        } catch (error) {
          if (ended) return;
          end();
          throw error;
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
