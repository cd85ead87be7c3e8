import { Agent, request, type IncomingMessage } from 'node:http';
import { answerCalls } from './rpc.ts';

/** Bytes of a frame of the log: its header and one page. */
const FRAME_BYTES = 24 + 4096;
/** So many frames the stock client asks for at a time. */
const BATCH = 128;

interface Wanted {
  readonly url: string;
  readonly apiKey: string;
  readonly count: number;
}

/** Clients that take part in the protocol and throw away what they get. */
const readers: Reader[] = [];

/** Follows the gateway as a replica does: told by the stream, it fetches frames until there are no more. */
class Reader {
  readonly #wanted: Wanted;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #epoch = '';
  #generation = 1;
  #nextFrame = 1;
  #position = 0;
  #busy = false;
  /** When each position was there, in milliseconds since 1970. */
  readonly reached = new Map<number, number>();

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Resolves when it follows. */
  async start(): Promise<void> {
    const { url, apiKey } = this.#wanted;
    const headers = { authorization: `Bearer ${apiKey}` };
    const place = JSON.parse((await this.#get('/v1/replica')).text) as Record<string, never>;
    this.#epoch = String(place['epoch']);
    this.#generation = Number(place['generation']);
    await new Promise<void>((resolve, reject) => {
      const sent = request(`${url}/v1/replica/changes`, { agent: false, headers }, (stream) => {
        this.#listen(stream, resolve);
      });
      sent.on('error', reject);
      sent.end();
    });
    await this.#fetchAll();
  }

  #listen(stream: IncomingMessage, onFirst: () => void): void {
    let text = '';
    // It ends with the gateway.
    stream.on('error', () => undefined);
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const end = text.lastIndexOf('\n\n');
      if (end < 0) return;
      const data = text.slice(0, end).matchAll(/^data: (.*)$/gm);
      text = text.slice(end + 2);
      for (const [, json = ''] of data) {
        this.#position = (JSON.parse(json) as { position: number }).position;
      }
      onFirst();
      void this.#fetchAll().catch(() => undefined);
    });
  }

  async #fetchAll(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      for (;;) {
        // What was told of before frames are asked for is among them, unless they are more than one answer holds.
        const told = this.#position;
        const there = await this.#fetchSome();
        if (there === 'more') continue;
        this.reached.set(told, performance.timeOrigin + performance.now());
        if (there === 'nothing' && told === this.#position) return;
      }
    } finally {
      this.#busy = false;
    }
  }

  /** Whether there is more, or this was all, or nothing newer. */
  async #fetchSome(): Promise<'more' | 'all' | 'nothing'> {
    const from = this.#nextFrame;
    const path = `/v1/replica/${this.#epoch}/sync/${this.#generation}/${from}/${from + BATCH}`;
    const { status, bytes, text } = await this.#get(path);
    if (status === 200) {
      const frames = bytes / FRAME_BYTES;
      this.#nextFrame += frames;
      return frames < BATCH ? 'all' : 'more';
    }
    if (status !== 400) throw new Error(`Status ${status}: ${text}`);
    const { generation } = JSON.parse(text) as { generation: number };
    if (generation <= this.#generation) return 'nothing';
    this.#generation += 1;
    this.#nextFrame = 1;
    return 'more';
  }

  #get(path: string): Promise<{ status: number; bytes: number; text: string }> {
    const { url, apiKey } = this.#wanted;
    const headers = { authorization: `Bearer ${apiKey}` };
    return new Promise((resolve, reject) => {
      const sent = request(url + path, { agent: this.#agent, headers }, (answer) => {
        const status = answer.statusCode ?? 0;
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes < FRAME_BYTES) chunks.push(chunk);
        });
        answer.on('end', () =>
          resolve({ status, bytes, text: Buffer.concat(chunks).toString('utf8') }),
        );
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end();
    });
  }
}

answerCalls({
  async follow(wanted: Wanted) {
    for (let n = 0; n < wanted.count; n += 1) readers.push(new Reader(wanted));
    await Promise.all(readers.map((reader) => reader.start()));
  },
  /** For each reader, when it first had this position or a later one; null for one that never had. */
  reachedAt(positions: readonly number[]): (number | null)[][] {
    return readers.map(({ reached }) => {
      const known = [...reached].toSorted(([a], [b]) => a - b);
      return positions.map((position) => known.find(([at]) => at >= position)?.[1] ?? null);
    });
  },
});
