import type { Logger } from 'pino';
import { CHAIN_START, verifyChunk, type ChainState } from '../../../shared/rules/ledger-chain.ts';
import type { ProjectReader } from '../../../shared/store/project-store.ts';
import { isObject, parseObject } from '../../../shared/lib/guards.ts';
import { readIfThere, writePrivateFile } from '../../files.ts';
import { isHead, type LedgerHead } from '../../ledger-heads.ts';
import type { VerifierReason, VerifierStatus } from '../status.ts';

/** Entries to check before other work gets its turn: a few milliseconds. */
const PORTION = 400;
const SAVE_MS = 5000;

interface Alarm {
  readonly seq: number;
  readonly reason: VerifierReason;
}

export interface HistoryVerifierOptions {
  readonly projectId: string;
  /** The file for the head, and for an alarm until a user accepts the present history. */
  readonly file: string;
  readonly log: Logger;
  /** Called with the newest checked entry: now and then, and whenever there's an alarm. */
  readonly onSeen: (head: LedgerHead) => void;
}

const ADVICE =
  "The gateway's ledger differs from the one seen before: keep both and investigate. Once you know why: svc ledger verify --accept";

/**
 * Checks each ledger entry as it arrives, and remembers the newest one. So it detects a gateway that later shows
 * another history: a restored backup, or a rewritten ledger.
 */
export class HistoryVerifier {
  readonly #options: HistoryVerifierOptions;
  #head: LedgerHead | null;
  #alarm: Alarm | null;
  #chain: ChainState = CHAIN_START;
  /** True once the present ledger is known to contain the head. */
  #isConfirmed = false;
  #refreshing: Promise<void> | null = null;
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
    if (this.#alarm) this.#tellHead();
  }

  get status(): VerifierStatus {
    if (!this.#alarm) return { ok: true, seq: this.#head?.seq ?? 0 };
    const { seq, reason } = this.#alarm;
    return { ok: false, seq, reason, file: this.#options.file };
  }

  /** The replica is new: look for the remembered head in it. */
  restart(): void {
    this.#save();
    this.#isConfirmed = false;
  }

  /** A user accepted the present history: forget the old head, and check the ledger from the start. */
  async startOver(): Promise<void> {
    while (this.#refreshing) await this.#refreshing;
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

  /** Checks the new entries of a replica. A call during a check starts another one after it. */
  refresh(store: ProjectReader): void {
    if (this.#alarm || this.#isClosed) return;
    if (this.#refreshing) {
      this.#again = store;
      return;
    }
    this.#refreshing = this.#walk(store)
      .catch((error: unknown) => this.#options.log.warn({ err: error }, "witness: couldn't check"))
      .finally(() => {
        this.#refreshing = null;
        const again = this.#again;
        this.#again = null;
        if (again) this.refresh(again);
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#refreshing;
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

  /** Looks for the remembered head in the ledger. */
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
    const { log, file } = this.#options;
    this.#alarm = { seq, reason };
    this.#tellHead();
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
    this.#tellHead();
  }

  /** Whatever the status misses, `svc ledger verify` has to miss too, whether its file was written late or is gone. */
  #tellHead(): void {
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
