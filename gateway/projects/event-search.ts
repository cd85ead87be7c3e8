import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toEnvelope } from '../../shared/kernel/envelope.ts';
import { NO_LINKS } from '../../shared/kernel/links.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { PAYLOAD_READ_MAX_BYTES } from '../../shared/lib/limits.ts';
import type { EventRow } from '../../shared/store/tables/inbox/events.ts';
import { eventText, termsOf, type EventSearch } from './event-text.ts';
import {
  blockOf,
  BLOCK_EVENTS,
  deleteIndex,
  EventIndex,
  type IndexedBlock,
} from '../store/event-index.ts';
import type { Project } from './project.ts';

/** Events read at a time: to check, and to index. */
const PORTION = 10;
/** A search answers after so much work with what it has found. */
const BUDGET_MS = 150;
/** Fewer events aren't worth indexing: a search reads them in a moment. */
const UNINDEXED_MIN = 64;
/** Indexing rests this much longer than it works. */
const REST_FACTOR = 4;
const REST_MAX_MS = 500;

type SearchedProject = Pick<Project, 'databasePath' | 'inBackground' | 'info' | 'pace' | 'store'>;

interface EventSearchQuery<T> {
  readonly search: EventSearch;
  /** Only events before this one. */
  readonly beforeSeq: number;
  /** Only this event and newer ones. */
  readonly fromSeq: number;
  readonly limit: number;
  /** The events at these positions that match, newest first. */
  readonly check: (seqs: readonly number[]) => Promise<readonly T[]>;
}

interface EventSearchPage<T> {
  readonly items: readonly T[];
  /** Where to go on; null if there are no older events. */
  readonly nextSeq: number | null;
  /** The time was up: nothing older than `nextSeq` has been searched. */
  readonly isCut: boolean;
}

interface Range {
  readonly oldest: number;
  readonly newest: number;
}

/**
 * Finds events by their words. The index is built from the first search on, newest events first, in small portions that
 * no write waits for; what isn't indexed yet is read.
 */
export class EventSearches {
  readonly #project: SearchedProject;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #isIndexed: boolean;
  #index: EventIndex | null = null;
  #blocks = new Map<number, IndexedBlock>();
  /** The index can't be used until the project is opened again. */
  #isBroken = false;
  /** Payloads up to this position are deleted. */
  #floor = 0;
  #fill: { isOver: boolean } | null = null;
  /** Calls of the index run one by one. */
  #turn: Promise<unknown> = Promise.resolve();

  /** A project whose payloads others may delete without telling this process gets no index: `isIndexed` is false. */
  constructor(project: SearchedProject, clock: Clock, isIndexed: boolean) {
    this.#project = project;
    this.#clock = clock;
    this.#isIndexed = isIndexed;
    this.#path = join(dirname(project.databasePath), 'search.db');
  }

  /**
   * Events that match, newest first. Does a bounded amount of work, however long the history is; the searches of a
   * project run one by one. RATE_LIMITED if too many wait.
   */
  find<T extends { readonly seq: number }>(
    wanted: EventSearchQuery<T>,
  ): Promise<EventSearchPage<T>> {
    return this.#project.pace.alone('searches', () => this.#find(wanted));
  }

  async #find<T extends { readonly seq: number }>(
    wanted: EventSearchQuery<T>,
  ): Promise<EventSearchPage<T>> {
    const { limit, check } = wanted;
    let workedMs = 0;
    let began = performance.now();
    const items: T[] = [];
    for await (const { seqs, reachedSeq } of this.#candidates(wanted)) {
      if (seqs.length > 0) items.push(...(await check(seqs)));
      const last = items[limit - 1];
      if (items.length > limit && last) {
        return { items: items.slice(0, limit), nextSeq: last.seq, isCut: false };
      }
      workedMs += performance.now() - began;
      if (workedMs > BUDGET_MS) return { items, nextSeq: reachedSeq, isCut: true };
      await this.#project.pace.breathe();
      began = performance.now();
    }
    return { items, nextSeq: null, isCut: false };
  }

  /** Forgets the words of payloads up to a position, before they are deleted. */
  async purge(upToSeq: number): Promise<void> {
    if (upToSeq <= this.#floor) return;
    this.#floor = upToSeq;
    if (!this.#index && !existsSync(this.#path)) return;
    await this.#exclusive(async () => {
      this.#index ??= EventIndex.open(this.#path);
      try {
        await this.#index.drop(upToSeq);
      } catch {
        this.#discard();
      }
      for (const block of this.#blocks.keys()) {
        if (block * BLOCK_EVENTS <= upToSeq) this.#blocks.delete(block);
      }
    });
  }

  /** Closes the file; the next search opens it again. */
  async close(): Promise<void> {
    if (this.#fill) this.#fill.isOver = true;
    this.#fill = null;
    await this.#exclusive(async () => {
      this.#index?.close();
      this.#index = null;
      this.#isBroken = false;
    });
  }

  /** Positions that may match, newest first; `reachedSeq` is the oldest position looked at so far. */
  async *#candidates({
    search,
    beforeSeq,
    fromSeq,
  }: Pick<EventSearchQuery<unknown>, 'search' | 'beforeSeq' | 'fromSeq'>): AsyncGenerator<{
    seqs: readonly number[];
    reachedSeq: number;
  }> {
    const range = await this.#range();
    await this.#opened();
    if (this.#unindexed(range) >= UNINDEXED_MIN) this.#startFilling();
    const newest = Math.min(range.newest, beforeSeq - 1);
    const oldest = Math.max(range.oldest, fromSeq);
    for (let block = blockOf(newest); ; block -= 1) {
      const part = partOf(block, { oldest, newest });
      if (!part) return;
      // Other searches may index more of the block meanwhile.
      const upTo = this.#blocks.get(block)?.upToSeq ?? part.oldest - 1;
      for (let to = part.newest; to > upTo && to >= part.oldest; to -= PORTION) {
        const from = Math.max(part.oldest, upTo + 1, to - PORTION + 1);
        yield { seqs: descending(from, to), reachedSeq: from };
      }
      yield* this.#indexed(block, search, Math.min(upTo, part.newest) + 1);
      yield { seqs: [], reachedSeq: part.oldest };
    }
  }

  async *#indexed(block: number, search: EventSearch, beforeSeq: number) {
    const terms = search.words.flatMap((word) => word.terms);
    for (let before = beforeSeq; this.#blocks.has(block);) {
      const seqs = await this.#exclusive(async () => this.#match(block, terms, before));
      const last = seqs.at(-1);
      if (last === undefined) return;
      yield { seqs, reachedSeq: last };
      if (seqs.length < PORTION) return;
      before = last;
    }
  }

  #match(block: number, terms: EventSearch['words'][number]['terms'], beforeSeq: number): number[] {
    if (!this.#index || !this.#blocks.has(block)) return [];
    try {
      return this.#index.match(block, terms, { beforeSeq, limit: PORTION });
    } catch (error) {
      this.#discard();
      throw error;
    }
  }

  #range(): Promise<Range> {
    return this.#project.store.read(async ({ events, eventHistory }) => {
      const newest = await eventHistory.newestSeq();
      return { newest, oldest: (await events.oldestKept())?.seq ?? newest + 1 };
    });
  }

  /** How many events aren't indexed yet. */
  #unindexed(range: Range): number {
    let count = 0;
    for (let block = blockOf(range.newest); ; block -= 1) {
      const part = partOf(block, range);
      if (!part) return count;
      const upTo = this.#blocks.get(block)?.upToSeq ?? part.oldest - 1;
      count += Math.max(0, part.newest - Math.max(upTo, part.oldest - 1));
    }
  }

  /** Opens the index if it's closed. */
  #opened(): Promise<void> {
    return this.#exclusive(async () => {
      if (this.#index || this.#isBroken || !this.#isIndexed) return;
      this.#index = EventIndex.open(this.#path);
      const blocks = this.#index.blocks();
      const [newest] = blocks;
      if (newest && !(await this.#isOurs(newest))) {
        this.#discard();
        this.#isBroken = false;
        this.#index = EventIndex.open(this.#path);
        return;
      }
      this.#blocks = new Map(blocks.map((block) => [block.block, block]));
    });
  }

  /** Whether the file was made from this database, and not from one that a backup has replaced. */
  async #isOurs({ upToSeq, lastId }: IndexedBlock): Promise<boolean> {
    const id = await this.#project.store.read(({ eventHistory }) => eventHistory.idAt(upToSeq));
    return id === lastId;
  }

  #discard(): void {
    this.#index?.close();
    this.#index = null;
    this.#blocks.clear();
    this.#isBroken = true;
    deleteIndex(this.#path);
  }

  #startFilling(): void {
    if (this.#fill || !this.#index) return;
    const fill = { isOver: false };
    this.#fill = fill;
    this.#project.inBackground(async () => {
      try {
        while (!fill.isOver && (await this.#fillPortion(fill)));
      } finally {
        if (this.#fill === fill) this.#fill = null;
      }
    });
  }

  /** Indexes a few events, the newest block first; false if there are no more. */
  async #fillPortion(fill: { readonly isOver: boolean }): Promise<boolean> {
    const startedAt = performance.now();
    const range = await this.#range();
    const rows = await this.#nextRows(range);
    const [first, last] = [rows[0], rows.at(-1)];
    if (!first || !last) {
      await this.#exclusive(async () => this.#index?.checkpoint());
      return false;
    }
    const block = { block: blockOf(first.seq), upToSeq: last.seq, lastId: last.id };
    const events = rows.map((row) => ({ seq: row.seq, terms: termsOf(this.#textOf(row)) }));
    await this.#exclusive(async () => {
      // Their payloads may have been deleted since they were read.
      if (fill.isOver || !this.#index || first.seq <= this.#floor) return;
      await this.#index.add(block, events);
      this.#blocks.set(block.block, block);
      if ((last.seq + 1) % (PORTION * 40) < PORTION) await this.#index.checkpoint();
    });
    await sleep(Math.min(REST_MAX_MS, REST_FACTOR * (performance.now() - startedAt)));
    return true;
  }

  async #nextRows(range: Range): Promise<EventRow[]> {
    const oldest = Math.max(range.oldest, this.#floor + 1);
    for (let block = blockOf(range.newest); ; block -= 1) {
      const part = partOf(block, { ...range, oldest });
      if (!part) return [];
      const from = Math.max(part.oldest, (this.#blocks.get(block)?.upToSeq ?? 0) + 1);
      if (from > part.newest) continue;
      const seqs = descending(from, Math.min(part.newest, from + PORTION - 1));
      const of = { bodyMaxBytes: PAYLOAD_READ_MAX_BYTES, now: this.#clock.now() };
      const rows = await this.#project.store.read(({ eventHistory }) => eventHistory.at(seqs, of));
      return rows.toReversed();
    }
  }

  #textOf(row: EventRow): string {
    const payload = { whole: true as const, ...NO_LINKS };
    const { id: project } = this.#project.info;
    return eventText(toEnvelope(row, { project, now: this.#clock.now(), reader: null, payload }));
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** The positions of a block that exist; null below the oldest. */
function partOf(block: number, { oldest, newest }: Range): Range | null {
  const first = block * BLOCK_EVENTS;
  const part = {
    oldest: Math.max(first, oldest),
    newest: Math.min(first + BLOCK_EVENTS - 1, newest),
  };
  return block >= 0 && part.oldest <= part.newest ? part : null;
}

function descending(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => to - index);
}
