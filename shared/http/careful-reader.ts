import { Socket } from 'node:net';
import { inNextTurn } from '../lib/next-turn.ts';

/** How many bytes are parsed at once: at most 700 chunks or 150 requests. */
const SLICE_BYTES = 4096;
/** What parsing costs, in microseconds or so; a small chunk takes one. A refusal is answered at once. */
const REQUEST_WORK = 20;
const REFUSAL_WORK = 200;
/** Four kilobytes can be a thousand header lines. */
const SLICE_BYTES_WORK = 50;
/** Slices that cost less are parsed together. */
const SLICE_WORK = 400;
/** What is parsed in one turn of the event loop; half of it for those whose last slice waits, because they send little. */
const TURN_WORK = 4000;
/** A client that sends more small chunks than this in one turn is read carefully. */
const SMALL_CHUNKS_MAX = 512;
/** How long after its last connection a client is still read carefully, and how many of those are remembered. */
const CAREFUL_MS = 60_000;
const REMEMBERED_MAX = 4096;
/** Bytes that are read but not parsed yet. A client that sends more is disconnected. */
const UNPARSED_MAX_BYTES = 32 * 1024 * 1024;

const EMPTY = Buffer.alloc(0);

/** The open connections of one network address. */
interface Client {
  readonly readers: Set<Reader>;
  isCareful: boolean;
  /** In this turn. */
  smallChunks: number;
}

/**
 * Reads slice by slice from clients whose bytes take long to parse. Node parses all that it reads of a connection at
 * once, and 64 KB that are 10,000 chunks or 2,000 requests take it 10 ms: fifty such connections would keep everybody
 * waiting. While such a client has a connection, and for a minute afterwards, its connections take turns, each until it
 * has used its share.
 */
export class CarefulReader {
  readonly #readers = new WeakMap<Socket, Reader>();
  readonly #clients = new Map<string, Client>();
  readonly #line: Line;
  /** Careful clients without a connection, and until when. */
  readonly #remembered = new Map<string, number>();
  /** Who sent small chunks in this turn. */
  readonly #chunkers = new Set<Client>();

  /** `onTooMuch` is called for a client that has sent more than we keep, before it's disconnected. */
  constructor(onTooMuch: (socket: Socket) => void) {
    this.#line = new Line(onTooMuch);
  }

  /** A new connection. */
  opened(socket: Socket): void {
    const { remoteAddress: address = '' } = socket;
    const client = this.#clientAt(address);
    const reader = new Reader(socket, client, this.#line);
    this.#readers.set(socket, reader);
    client.readers.add(reader);
    socket.once('close', () => {
      client.readers.delete(reader);
      if (client.readers.size > 0) return;
      this.#clients.delete(address);
      if (client.isCareful) this.#remember(address);
    });
    if (client.isCareful) reader.begin();
  }

  /** A request was parsed. */
  request(): void {
    this.#line.work += REQUEST_WORK;
  }

  /** A request was refused, because its head takes far longer to parse than others. */
  refused(socket: Socket): void {
    this.#line.work += REFUSAL_WORK;
    this.tooMany(socket);
  }

  /** A small chunk of a body was parsed. */
  smallChunk(socket: Socket): void {
    this.#line.work += 1;
    const client = this.#readers.get(socket)?.client;
    if (!client || client.isCareful) return;
    if (this.#chunkers.size === 0) setImmediate(this.#countAgain);
    this.#chunkers.add(client);
    client.smallChunks += 1;
    if (client.smallChunks > SMALL_CHUNKS_MAX) this.tooMany(socket);
  }

  /** A connection has sent far more requests than its client may expect to be answered. */
  tooMany(socket: Socket): void {
    const reader = this.#readers.get(socket);
    if (!reader || reader.client.isCareful) return;
    const { client } = reader;
    client.isCareful = true;
    for (const one of client.readers) {
      // What Node has read of this connection is being parsed.
      if (one === reader) setImmediate(() => one.begin());
      else one.begin();
    }
  }

  #clientAt(address: string): Client {
    const known = this.#clients.get(address);
    if (known) return known;
    const isCareful = (this.#remembered.get(address) ?? 0) > performance.now();
    const client = { readers: new Set<Reader>(), isCareful, smallChunks: 0 };
    this.#clients.set(address, client);
    return client;
  }

  #remember(address: string): void {
    this.#remembered.delete(address);
    this.#remembered.set(address, performance.now() + CAREFUL_MS);
    const [oldest = ''] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED_MAX) this.#remembered.delete(oldest);
  }

  readonly #countAgain = (): void => {
    for (const client of this.#chunkers) client.smallChunks = 0;
    this.#chunkers.clear();
  };
}

/** What waits to be parsed. */
class Line {
  readonly #last: Reader[] = [];
  readonly #others: Reader[] = [];
  readonly onTooMuch: (socket: Socket) => void;
  /** The cost of all that was parsed. */
  work = 0;
  #bytes = 0;
  #isRunning = false;

  constructor(onTooMuch: (socket: Socket) => void) {
    this.onTooMuch = onTooMuch;
  }

  /** Whether there's room for as many bytes; a negative number gives room back. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > UNPARSED_MAX_BYTES) return false;
    this.#bytes += bytes;
    return true;
  }

  enter(reader: Reader, bytes: number): void {
    (bytes > SLICE_BYTES ? this.#others : this.#last).push(reader);
    if (this.#isRunning) return;
    this.#isRunning = true;
    inNextTurn(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    const began = this.work;
    this.#parse(this.#last, began + TURN_WORK / 2);
    this.#parse(this.#others, began + TURN_WORK);
    this.#isRunning = this.#last.length + this.#others.length > 0;
    if (this.#isRunning) inNextTurn(this.#nextTurn);
  };

  /** Each gets a turn, until their work together reaches this. */
  #parse(readers: Reader[], until: number): void {
    for (let left = readers.length; left > 0 && this.work < until; left -= 1) {
      readers.shift()?.parseNext();
    }
  }
}

/** One connection. */
class Reader {
  readonly client: Client;
  readonly #socket: Socket;
  readonly #line: Line;
  /** What Node has read and not parsed. */
  #rest: Buffer = EMPTY;
  #isInLine = false;
  /** Whether the HTTP server wants nothing more to be parsed for now. */
  #isPaused = false;
  /** Whether the client has sent all, and nobody was told. */
  #hasEnded = false;
  #parse: (slice: Buffer) => void = () => undefined;
  #ended: (() => void)[] = [];

  constructor(socket: Socket, client: Client, line: Line) {
    this.#socket = socket;
    this.client = client;
    this.#line = line;
  }

  /** From now on this parses what is read of the connection, not Node. */
  begin(): void {
    const socket = this.#socket;
    if (socket.isPaused()) {
      // Only Node can go on with what Node has stopped.
      socket.once('resume', () => this.begin());
      return;
    }
    const [parse] = socket.listeners('data') as ((slice: Buffer) => void)[];
    if (!parse || socket.destroyed) return;
    this.#parse = parse;
    this.#ended = socket.listeners('end') as (() => void)[];
    socket.pause = () => {
      this.#isPaused = true;
      return Socket.prototype.pause.call(socket);
    };
    socket.resume = () => {
      this.#isPaused = false;
      this.#goOn();
      return socket;
    };
    socket.removeListener('data', parse).removeAllListeners('end');
    socket.on('data', (bytes: Buffer) => this.#arrived(bytes));
    socket.on('end', () => {
      this.#hasEnded = true;
      this.#goOn();
    });
    socket.once('close', () => this.#keep(EMPTY));
  }

  parseNext(): void {
    const until = this.#line.work + SLICE_WORK;
    while (this.#rest.length > 0 && this.#line.work < until && !this.#isStopped) {
      const slice = this.#rest.subarray(0, SLICE_BYTES);
      this.#keep(this.#rest.subarray(SLICE_BYTES));
      this.#line.work += SLICE_BYTES_WORK;
      this.#parse.call(this.#socket, slice);
    }
    this.#isInLine = false;
    this.#goOn();
  }

  #arrived(bytes: Buffer): void {
    Socket.prototype.pause.call(this.#socket);
    if (this.#keep(bytes)) {
      this.#goOn();
      return;
    }
    this.#line.onTooMuch(this.#socket);
    this.#socket.destroy();
  }

  #keep(rest: Buffer): boolean {
    if (!this.#line.take(rest.length - this.#rest.length)) return false;
    this.#rest = rest;
    return true;
  }

  get #isStopped(): boolean {
    return this.#isPaused || this.#socket.destroyed;
  }

  #goOn(): void {
    if (this.#isStopped || this.#isInLine) return;
    if (this.#rest.length > 0) {
      this.#isInLine = true;
      this.#line.enter(this, this.#rest.length);
    } else if (this.#hasEnded) {
      this.#hasEnded = false;
      for (const ended of this.#ended) ended.call(this.#socket);
    } else {
      Socket.prototype.resume.call(this.#socket);
    }
  }
}
