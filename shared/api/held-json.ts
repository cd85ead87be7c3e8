/** Some proxies end a request whose answer is silent for 5 s, most after 30 or 60 s: a held answer says something before. */
export const QUIET_MS = 3_000;

export const LATE = Symbol('late');

/** The answer, or `LATE` if it takes longer. */
export async function within<T>(answer: Promise<T>, ms: number): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, ms, LATE);
  });
  try {
    return await Promise.race([answer, over]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * JSON that isn't there yet, after line breaks, which JSON allows before a value. The status was sent with the first of
 * them: if the answer fails, `broken` breaks the connection, so that nobody takes it for a success and everybody may ask
 * again.
 */
export function heldJson(
  answer: Promise<string>,
  { everyMs, broken }: { readonly everyMs: number; readonly broken: (error: unknown) => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let ticker: NodeJS.Timeout | undefined;
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    clearInterval(ticker);
  };
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      const send = (text: string): void => controller.enqueue(encoder.encode(text));
      send('\n');
      ticker = setInterval(() => send('\n'), everyMs);
      const finish = (json: string): void => {
        if (!isOpen) return;
        end();
        send(json);
        controller.close();
      };
      const fail = (error: unknown): void => {
        if (!isOpen) return;
        end();
        broken(error);
        controller.error(error);
      };
      void answer.then(finish, fail);
    },
    cancel: end,
  });
}
