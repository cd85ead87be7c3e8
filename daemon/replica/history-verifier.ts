import type { Logger } from 'pino';
import { CHAIN_START, verifyChunk, type ChainState } from '../../shared/rules/ledger-chain.ts';
import type { ProjectReader } from '../../shared/store/project-store.ts';
import { isObject, parseObject } from '../../shared/lib/guards.ts';
import { readIfThere, writePrivateFile } from '../files.ts';
import { isHead, type LedgerHead } from '../ledger-heads.ts';
import type { VerifierReason, VerifierStatus } from './status.ts';

/** So many entries are read and checked before other work gets its turn: a few milliseconds. */
const PORTION = 400;
const SAVE_MS = 5000;

interface Alarm {
  readonly seq: number;
  readonly reason: VerifierReason;
}

export interface HistoryVerifierOptions {
  readonly projectId: string;
  /** Where the head is remembered, and an alarm until somebody accepts the history at hand. */
  readonly file: string;
  readonly log: Logger;
  /** Told of the newest entry that was checked, now and then. */
  readonly onSeen: (head: LedgerHead) => void;
}

const ADVICE =
  "The gateway's ledger differs from the one seen before: keep both and investigate. Once you know why: svc ledger verify --accept";

/**
 * Checks the ledger as it comes in, entry by entry, and remembers its newest one. A gateway that later shows another
 * history, be it an old copy that was put back or one that was written anew, is found out.
 */
export class HistoryVerifier {
  readonly #options: HistoryVerifierOptions;
  #head: LedgerHead | null;
  #alarm: Alarm | null;
  #chain: ChainState = CHAIN_START;
  /** The head stands in the ledger as it is now. */
  #isConfirmed = false;
  #look: Promise<void> | null = null;
  #again: ProjectReader | null = null;
  #saved: LedgerHead | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: HistoryVerifierOptions) {
    this.#options = options;
    const value = parseObject(readIfThere(options.file) ?? '');
    this.#head = isHead(value?.['head']) ? value['head'] : null;
    this.#saved = this.#head;
    this.#alarm = isAlarm(value?.['alarm']) ? value['alarm'] : null;
  }

  get status(): VerifierStatus {
    if (!this.#alarm) return { ok: true, seq: this.#head?.seq ?? 0 };
    const { seq, reason } = this.#alarm;
    return { ok: false, seq, reason, file: this.#options.file };
  }

  /** There is another copy: what was seen is to be looked for in it. */
  restart(): void {
    this.#isConfirmed = false;
  }

  /** Somebody accepted the history at hand: what was seen before no longer counts, and all of it is to be checked. */
  async startOver(): Promise<void> {
    while (this.#look) await this.#look;
    this.#options.log.warn(
      { seen: this.#head, alarm: this.#alarm },
      'witness: accepted the current history',
    );
    this.#head = null;
    this.#alarm = null;
    this.#chain = CHAIN_START;
    this.#isConfirmed = false;
    this.#write();
  }

  /** Looks at what is new in a copy that has all the gateway has. Called again meanwhile, it looks once more. */
  look(store: ProjectReader): void {
    if (this.#alarm || this.#isClosed) return;
    if (this.#look) {
      this.#again = store;
      return;
    }
    this.#look = this.#walk(store)
      .catch((error: unknown) => this.#options.log.warn({ err: error }, "witness: couldn't check"))
      .finally(() => {
        this.#look = null;
        const again = this.#again;
        this.#again = null;
        if (again) this.look(again);
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#look;
    this.#save();
  }

  async #walk(store: ProjectReader): Promise<void> {
    if (!this.#isConfirmed && !(await this.#confirm(store))) return;
    for (;;) {
      const { expectedSeq } = this.#chain;
      const entries = await store.read(({ ledger }) =>
        ledger.range(expectedSeq, Number.MAX_SAFE_INTEGER, PORTION),
      );
      const verdict = verifyChunk(this.#options.projectId, this.#chain, entries);
      if (!verdict.ok) return this.#raise(verdict.fault);
      this.#chain = verdict.state;
      const last = entries.at(-1);
      if (last) this.#head = { seq: last.seq, hash: last.hash, at: last.at };
      if (entries.length > 0) this.#saveSoon();
      if (entries.length < PORTION || this.#isClosed) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Looks for the newest entry that was seen. */
  async #confirm(store: ProjectReader): Promise<boolean> {
    const head = this.#head;
    if (head) {
      const [entry] = await store.read(({ ledger }) => ledger.range(head.seq, head.seq, 1));
      if (entry?.hash !== head.hash) {
        this.#raise({ seq: head.seq, reason: entry ? 'rewritten' : 'truncated' });
        return false;
      }
      this.#chain = { expectedSeq: head.seq + 1, prevHash: head.hash, anchored: true };
    }
    this.#isConfirmed = true;
    return true;
  }

  #raise({ seq, reason }: Alarm): void {
    this.#alarm = { seq, reason };
    const { log, file } = this.#options;
    log.error({ seq, reason, seen: this.#head, file }, `witness: ${ADVICE}`);
    this.#write();
  }

  #saveSoon(): void {
    this.#timer ??= setTimeout(() => this.#save(), SAVE_MS);
  }

  #save(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#alarm || this.#head === this.#saved) return;
    this.#write();
    if (this.#head) this.#options.onSeen(this.#head);
  }

  #write(): void {
    const { file } = this.#options;
    const alarm = this.#alarm && { ...this.#alarm, advice: ADVICE };
    writePrivateFile(file, `${JSON.stringify({ head: this.#head, alarm }, null, 2)}\n`);
    this.#saved = this.#head;
  }
}

function isAlarm(value: unknown): value is Alarm {
  return (
    isObject(value) && Number.isSafeInteger(value['seq']) && typeof value['reason'] === 'string'
  );
}
