import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

const TXT = 16;
const IN = 1;
const HEADER_BYTES = 12;
const STRING_MAX_BYTES = 255;
const NO_SUCH_NAME = 3;
const SERVER_FAILED = 2;
const TTL_SECONDS = 60;

/** A name server on 127.0.0.1 with TXT records and nothing else; names are in lower case. */
export class DnsServer {
  readonly records = new Map<string, string[]>();
  /** Every name that was asked for, in order. */
  readonly asked: string[] = [];
  /** How it answers, or fails to. */
  mood: 'fine' | 'silent' | 'failing' = 'fine';
  readonly #socket: Socket = createSocket('udp4');

  static async start(records: Readonly<Record<string, string>> = {}): Promise<DnsServer> {
    const server = new DnsServer();
    for (const [name, text] of Object.entries(records)) server.records.set(name, [text]);
    server.#socket.on('message', (query, from) => server.#answer(query, from));
    server.#socket.bind(0, '127.0.0.1');
    await once(server.#socket, 'listening');
    return server;
  }

  /** As `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  #answer(query: Buffer, from: RemoteInfo): void {
    const { name, type, end } = questionOf(query);
    this.asked.push(name);
    if (this.mood === 'silent') return;
    const texts = type === TXT ? (this.records.get(name) ?? []) : [];
    const code = this.mood === 'failing' ? SERVER_FAILED : texts.length === 0 ? NO_SUCH_NAME : 0;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    // An answer, with as much authority and recursion as anybody wants.
    header.writeUInt16BE(0x8580 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(code === 0 ? texts.length : 0, 6);
    const answers = code === 0 ? texts.map(txtRecord) : [];
    this.#socket.send(
      Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers]),
      from.port,
      from.address,
    );
  }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function txtRecord(text: string): Buffer {
  const strings: Buffer[] = [];
  for (let at = 0; at === 0 || at < text.length; at += STRING_MAX_BYTES) {
    const piece = Buffer.from(text.slice(at, at + STRING_MAX_BYTES));
    strings.push(Buffer.from([piece.length]), piece);
  }
  const data = Buffer.concat(strings);
  // A pointer to the name in the question.
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, TXT, 0, IN, 0, 0, 0, TTL_SECONDS, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
