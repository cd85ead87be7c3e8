import { heldJson, LATE, within } from '../../held-json.ts';
import { writeNumbers } from '../numbers.ts';

/** A client that doesn't read its stream is dropped when this many chunks are waiting. */
const WAITING_MAX = 1000;
const KEEP_ALIVE = ': waiting\n\n';

/** The SDK's answer to a request: JSON, an event stream, or nothing. */
export type SdkReply = Response | string | null;
/** The same answer as the client gets it. */
export type ClientReply = string | ReadableStream<Uint8Array> | null;

interface HoldTimes {
  readonly streamAfterMs: number;
  readonly tickMs: number;
}

/** Answers with JSON if the answer comes soon enough, otherwise with an event stream. */
export async function hold(answer: Promise<SdkReply>, times: HoldTimes): Promise<ClientReply> {
  const early = await within(answer, times.streamAfterMs);
  const isStream = early === LATE || (early instanceof Response && streamOf(early) !== null);
  return isStream
    ? new Outflow().begin((flow) => streamed(flow, answer, times.tickMs))
    : sent(early);
}

/** The same for a client that reads no streams: JSON, after line breaks if it takes long. */
export async function holdJson(
  answer: Promise<SdkReply>,
  { streamAfterMs, tickMs, broken }: HoldTimes & { readonly broken: (error: unknown) => void },
): Promise<ClientReply> {
  const json = answer.then(sent);
  const early = await within(json, streamAfterMs);
  if (early !== LATE) return early;
  const text = json.then((late) => (typeof late === 'string' ? late : ''));
  return heldJson(text, { everyMs: tickMs, broken });
}

/** The answer without waiting or keep-alives. */
export async function sent(served: SdkReply): Promise<ClientReply> {
  if (served === null || typeof served === 'string') return served;
  const body = streamOf(served);
  if (body) return new Outflow().begin((flow) => flow.pass(body));
  return writeNumbers(await served.text()) || null;
}

async function streamed(flow: Outflow, answer: Promise<SdkReply>, tickMs: number): Promise<void> {
  // The first bytes push the headers through proxies that wait for a body.
  flow.send(KEEP_ALIVE);
  // The SDK's stream comes frame by frame, so there's always room between two of them.
  const ticker = setInterval(() => flow.send(KEEP_ALIVE), tickMs);
  try {
    const served = await answer;
    const body = served instanceof Response ? streamOf(served) : null;
    if (body) return await flow.pass(body);
    const json = await sent(served);
    if (typeof json === 'string') flow.send(event(json));
  } finally {
    clearInterval(ticker);
  }
}

/** A stream to a client that may read slowly or leave. */
export class Outflow {
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #source: ReadableStreamDefaultReader<Uint8Array> | null = null;

  /** `write` sends the whole content; the stream ends when it resolves. */
  begin(write: (flow: Outflow) => Promise<void>): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        void write(this).then(
          () => this.#end((open) => open.close()),
          (error: unknown) => this.#end((open) => open.error(error)),
        );
      },
      cancel: () => this.#leave(),
    });
  }

  /** Forwards the SDK's output, one frame at a time, as `edit` changes it. */
  async pass(
    body: ReadableStream<Uint8Array>,
    edit: (text: string) => string = (text) => text,
  ): Promise<void> {
    this.#source = body.getReader();
    if (!this.#controller) return this.#leave();
    for (;;) {
      const { done, value } = await this.#source.read();
      if (done) return;
      this.send(edit(writeNumbers(this.#decoder.decode(value, { stream: true }))));
    }
  }

  send(text: string): void {
    if (!this.#controller) return;
    this.#controller.enqueue(this.#encoder.encode(text));
    if ((this.#controller.desiredSize ?? 0) >= -WAITING_MAX) return;
    this.#end((open) => open.error(new Error('The client reads too slowly.')));
    this.#leave();
  }

  /** Stops forwarding the SDK's output. */
  async stop(): Promise<void> {
    await this.#source?.cancel();
  }

  #end(end: (open: ReadableStreamDefaultController<Uint8Array>) => void): void {
    const open = this.#controller;
    this.#controller = null;
    if (open) end(open);
  }

  #leave(): void {
    this.#controller = null;
    void this.#source?.cancel();
  }
}

export function event(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** The events of a streamed answer. Reads `body` only for streams, because creating it takes long. */
export function streamOf(response: Response): ReadableStream<Uint8Array> | null {
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  return isStream ? response.body : null;
}
