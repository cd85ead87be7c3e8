/** A call that may take longer than clients and proxies wait in silence. */
export interface HeldCall {
  /** The whole JSON-RPC answer; null when the client has cancelled the call and wants none. Never rejects. */
  readonly answer: Promise<string | null>;
  /** Whether the client reads event streams; one that does not waits for its JSON. */
  readonly acceptsStream: boolean;
  /** The notification after this many seconds, for a client that gave a progress token. */
  readonly progress: ((elapsedSeconds: number) => string) | null;
  readonly streamAfterMs: number;
  readonly tickMs: number;
}

export const KEEP_ALIVE = ': waiting\n\n';

/** Answers with JSON while that is soon enough, and with an event stream otherwise. */
export async function holdCall(
  call: HeldCall,
): Promise<string | ReadableStream<Uint8Array> | null> {
  if (!call.acceptsStream) return call.answer;
  const early = call.progress === null ? await within(call.answer, call.streamAfterMs) : null;
  return early ?? streamed(call);
}

async function within(answer: HeldCall['answer'], ms: number): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

function streamed(call: HeldCall): ReadableStream<Uint8Array> {
  const { answer, progress, tickMs } = call;
  const encoder = new TextEncoder();
  let ticker: NodeJS.Timeout | undefined;
  let gone = false;
  const run = async (send: (text: string) => void, close: () => void) => {
    let ticks = 0;
    // The first bytes carry the headers through proxies that wait for a body.
    send(KEEP_ALIVE);
    ticker = setInterval(() => {
      ticks += 1;
      send(progress ? event(progress((ticks * tickMs) / 1000)) : KEEP_ALIVE);
    }, tickMs);
    const json = await answer;
    clearInterval(ticker);
    if (gone) return;
    if (json !== null) send(event(json));
    close();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      void run(
        (text) => controller.enqueue(encoder.encode(text)),
        () => controller.close(),
      );
    },
    cancel() {
      gone = true;
      clearInterval(ticker);
    },
  });
}

export function event(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}
