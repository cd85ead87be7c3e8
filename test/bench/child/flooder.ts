import { connect, type Socket } from 'node:net';
import { answerCalls } from './rpc.ts';

/** Where a server listens: its port on this machine, or its socket. */
export type Listening = { readonly port: number } | { readonly path: string };

/** Requests that are sent over and over: the connections share them out among themselves. */
export interface Flood {
  readonly to: Listening;
  readonly connections: number;
  readonly seconds: number;
  readonly requests: readonly FloodRequest[];
  /** Whether each request has a connection of its own. */
  readonly close?: boolean;
  /** Requests sent before the first answer is read. */
  readonly ahead?: number;
  /** The address it comes from. */
  readonly from?: string;
  /** How answers are read: not at all, or a byte a second. */
  readonly reads?: 'nothing' | 'slowly';
}

export interface FloodRequest {
  /** Such as `GET /v1/openapi.json`. */
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How often which status came. */
export type Answers = Record<string, number>;

const AGAIN_MS = 20;
const SLOWLY_MS = 1000;

async function flood(wanted: Flood): Promise<Answers> {
  const answers: Answers = {};
  const bytes = wanted.requests.map((one) => bytesOf(one, wanted.close === true));
  const until = performance.now() + wanted.seconds * 1000;
  const flooders = Array.from({ length: wanted.connections }, (_, n) => {
    return new Flooder(wanted, bytes, { first: n, until, answers });
  });
  await new Promise((resolve) => setTimeout(resolve, wanted.seconds * 1000));
  for (const flooder of flooders) flooder.end();
  return answers;
}

function bytesOf({ line, headers = {}, body = '' }: FloodRequest, close: boolean): Buffer {
  const all = {
    Host: '127.0.0.1',
    ...(close && { Connection: 'close' }),
    ...(body !== '' && { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([`${line} HTTP/1.1`, ...lines, '', body].join('\r\n'));
}

/** One connection after the other, each with one request under way. */
class Flooder {
  readonly #wanted: Flood;
  readonly #bytes: readonly Buffer[];
  readonly #run: { readonly until: number; readonly answers: Answers };
  #next: number;
  #socket: Socket | null = null;
  #head = '';
  /** Bytes of the answer's body that are still to come; null while its head comes, -1 for chunks. */
  #left: number | null = null;

  constructor(
    wanted: Flood,
    bytes: readonly Buffer[],
    run: { readonly first: number; readonly until: number; readonly answers: Answers },
  ) {
    this.#wanted = wanted;
    this.#bytes = bytes;
    this.#run = run;
    this.#next = run.first;
    this.#connect();
  }

  end(): void {
    this.#socket?.destroy();
  }

  #connect(): void {
    if (performance.now() > this.#run.until) return;
    const { to, from: localAddress = '127.0.0.1' } = this.#wanted;
    const socket = connect('path' in to ? to : { ...to, host: '127.0.0.1', localAddress });
    this.#socket = socket;
    this.#head = '';
    this.#left = null;
    socket.on('error', () => this.#note('error'));
    socket.on('close', () => setTimeout(() => this.#connect(), this.#wanted.close ? 0 : AGAIN_MS));
    if (this.#wanted.reads === 'slowly') readSlowly(socket);
    else if (this.#wanted.reads === 'nothing') socket.pause();
    else socket.on('data', (chunk: Buffer) => this.#read(chunk));
    for (let n = 0; n < (this.#wanted.ahead ?? 1); n += 1) this.#send();
  }

  #send(): void {
    const bytes = this.#bytes[this.#next % this.#bytes.length];
    this.#next += this.#wanted.connections;
    if (bytes) this.#socket?.write(bytes);
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#left === null) rest = this.#readHead(rest);
      else {
        const taken = this.#left < 0 ? rest.length : Math.min(this.#left, rest.length);
        if (this.#left > 0) this.#left -= taken;
        const isLast = this.#left < 0 && rest.subarray(-5).toString('latin1') === '0\r\n\r\n';
        rest = rest.subarray(taken);
        if (this.#left === 0 || isLast) this.#answered();
      }
    }
  }

  #readHead(chunk: Buffer): Buffer {
    const text = this.#head + chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) {
      this.#head = text;
      return chunk.subarray(chunk.length);
    }
    this.#note(text.slice(9, 12));
    const rest = chunk.subarray(end + 4 - this.#head.length);
    const head = text.slice(0, end);
    this.#head = '';
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    this.#left = length === undefined ? (/\r\ntransfer-encoding/i.test(head) ? -1 : 0) : +length;
    if (this.#left === 0 || text.startsWith('HTTP/1.1 304')) this.#answered();
    return rest;
  }

  #answered(): void {
    this.#left = null;
    if (performance.now() > this.#run.until) this.end();
    else if (!this.#wanted.close) this.#send();
  }

  #note(what: string): void {
    const { answers } = this.#run;
    answers[what] = (answers[what] ?? 0) + 1;
  }
}

function readSlowly(socket: Socket): void {
  socket.once('readable', () => {
    const reading = setInterval(() => socket.read(1), SLOWLY_MS);
    socket.once('close', () => clearInterval(reading));
  });
}

answerCalls({ flood });
