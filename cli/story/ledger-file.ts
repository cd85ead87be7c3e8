import { createReadStream } from 'node:fs';
import { parseExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { canonicalJson } from '../../shared/rules/canonical-json.ts';
import {
  CHAIN_START,
  openDigest,
  verifyChunk,
  type ChainFault,
  type ChainState,
  type LedgerEntry,
} from '../../shared/rules/ledger-chain.ts';
import { unreadable } from '../disk/faults.ts';

/** The format name in an exported ledger's first line. */
export const FORMAT = 'svc-ledger-1';

/** The value and salt behind an entry's digest. */
export interface Opening {
  readonly opens: number;
  readonly salt: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The first place where a file isn't a valid exported ledger. */
export interface FileFault {
  readonly seq: number;
  readonly line: number;
  readonly reason: ChainFault['reason'] | 'unreadable' | 'opening_mismatch' | 'rewritten';
}

/** The content of an intact file. */
export interface LedgerFile {
  readonly project: string;
  readonly head: { readonly seq: number; readonly hash: string; readonly at: string } | null;
  readonly openings: readonly Opening[];
  /** Entries about the event or about requests of these openings. */
  readonly entries: readonly LedgerEntry[];
  /** Whether the file has the expected hash; null if none was expected. */
  readonly hasExpected: boolean | null;
}

/** What the caller knows about the ledger and wants from the file. */
export interface LedgerFileOptions {
  /** The head seen earlier; the file's entry at that position must be the same. */
  readonly remembered?: ((project: string) => { seq: number; hash: string } | null) | undefined;
  /** The hash of an entry that the file must contain. */
  readonly expectedHash?: string | undefined;
  /** Keeps the entries about this event and its requests. */
  readonly eventId?: string | undefined;
}

class Faulty extends Error {
  readonly reason: FileFault['reason'];
  readonly seq: number | undefined;

  constructor(reason: FileFault['reason'], seq?: number) {
    super(reason);
    this.reason = reason;
    this.seq = seq;
  }
}

/**
 * Reads an exported ledger and checks every byte: each line is canonical JSON, the entries form an unbroken chain from
 * the first one, and each opening matches its entry's digest.
 */
export async function readLedgerFile(
  path: string,
  wanted: LedgerFileOptions = {},
): Promise<{ ok: true; file: LedgerFile } | { ok: false; fault: FileFault }> {
  const reader = new Reader(wanted);
  let line = 0;
  try {
    for await (const bytes of linesOf(path)) {
      line += 1;
      reader.read(bytes);
    }
    return { ok: true, file: reader.end() };
  } catch (error) {
    if (!(error instanceof Faulty)) throw unreadable(error, path);
    const seq = error.seq ?? reader.nextSeq;
    return { ok: false, fault: { seq, line, reason: error.reason } };
  }
}

class Reader {
  readonly #wanted: LedgerFileOptions;
  readonly #digests = new Map<number, string>();
  readonly #entries: LedgerEntry[] = [];
  readonly #openings: Opening[] = [];
  #project: string | null = null;
  #state: ChainState = CHAIN_START;
  #head: LedgerFile['head'] = null;
  #hasExpected = false;
  #remembered: { seq: number; hash: string } | null = null;

  constructor(wanted: LedgerFileOptions) {
    this.#wanted = wanted;
  }

  get nextSeq(): number {
    return this.#state.expectedSeq;
  }

  /** Reads one line; null means it has no line end. */
  read(bytes: Uint8Array | null): void {
    const value = bytes && valueOf(bytes);
    if (!isObject(value)) throw new Faulty('unreadable');
    if (this.#project === null) this.#begin(value);
    else if ('opens' in value) this.#open(value);
    else this.#append(value as unknown as LedgerEntry, this.#project);
  }

  end(): LedgerFile {
    if (this.#project === null) throw new Faulty('unreadable');
    const { expectedHash } = this.#wanted;
    const requests = new Set(this.#openings.map(({ value }) => value['request_id']));
    return {
      project: this.#project,
      head: this.#head,
      openings: this.#openings,
      entries: this.#entries.filter(
        ({ subject }) => subject === this.#wanted.eventId || requests.has(subject),
      ),
      hasExpected: expectedHash === undefined ? null : this.#hasExpected,
    };
  }

  #begin({ format, project, ...rest }: Readonly<Record<string, unknown>>): void {
    const isHeader = format === FORMAT && typeof project === 'string';
    if (!isHeader || Object.keys(rest).length > 0) throw new Faulty('unreadable');
    this.#project = project;
    this.#remembered = this.#wanted.remembered?.(project) ?? null;
  }

  #append(entry: LedgerEntry, project: string): void {
    const fields = typeof entry.actor === 'string' ? ENTRY_FIELDS : ENTRY_FIELDS - 1;
    if (Object.keys(entry).length !== fields) throw new Faulty('unreadable');
    const { seq, hash, at } = entry;
    const result = verifyChunk(project, this.#state, [entry]);
    if (!result.ok) throw new Faulty(result.fault.reason, result.fault.seq);
    const seen = this.#remembered;
    if (seen?.seq === seq && seen.hash !== hash) throw new Faulty('rewritten', seq);
    this.#state = result.state;
    this.#head = { seq, hash, at };
    this.#hasExpected ||= hash === this.#wanted.expectedHash;
    this.#keep(entry);
  }

  #keep(entry: LedgerEntry): void {
    const { seq, subject, input_digest: digest } = entry;
    const isAsked = subject?.startsWith('req_') ?? false;
    if (isAsked && digest !== null) this.#digests.set(seq, digest);
    const { eventId } = this.#wanted;
    if (eventId !== undefined && (isAsked || subject === eventId)) this.#entries.push(entry);
  }

  #open({ opens, salt, value, ...rest }: Readonly<Record<string, unknown>>): void {
    const seq = Number(opens);
    const isWhole = typeof salt === 'string' && isObject(value) && Object.keys(rest).length === 0;
    const digest = this.#digests.get(seq);
    if (!isWhole || digest === undefined || openDigest(salt, canonicalJson(value)) !== digest) {
      throw new Faulty('opening_mismatch', seq);
    }
    const event = value['event'];
    const isOurs = isObject(event) && event['id'] === this.#wanted.eventId;
    if (isOurs) this.#openings.push({ opens: seq, salt, value });
  }
}

/** An entry from before actors were recorded has one less. */
const ENTRY_FIELDS = 15;

/** Parses a line that must be canonical JSON, byte for byte. */
function valueOf(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = parseExact(text);
    return canonicalJson(value) === text ? value : null;
  } catch {
    return null;
  }
}

const LINE_END = 0x0a;

/** Yields a file's lines, and null for a last line without a line end. */
async function* linesOf(path: string): AsyncGenerator<Uint8Array | null> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.concat([rest, chunk as Uint8Array]);
    let from = 0;
    for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, from)) {
      yield bytes.subarray(from, at);
      from = at + 1;
    }
    rest = bytes.subarray(from);
  }
  if (rest.length > 0) yield null;
}
