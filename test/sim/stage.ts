import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Coverage } from './coverage.ts';
import { Names } from './names.ts';
import { CHANNELS, ProjectModel, refused, type From, type Said } from './project-model.ts';
import { lossOf } from './push-model.ts';
import { endOf } from './request-model.ts';
import type { Rules } from './rules.ts';
import type { KnownKey, Template } from './template.ts';
import type { Pick, StepKind, Who } from './steps.ts';
import { World, type Answered } from './world.ts';

/** The product's answer, and the model's. */
export interface Pair {
  readonly said: Said;
  readonly expected: Said;
}

type Write = (from: From) => Promise<Pair>;

const NOBODY = 'svc_live_0000000000000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';

/** The world and its model side by side, with the names that both have for things. */
export class Stage {
  readonly world: World;
  readonly model: ProjectModel;
  readonly template: Template;
  readonly coverage: Coverage;
  readonly names = new Names();
  /** Leases given, by event. */
  readonly leases = new Map<string, string[]>();
  readonly workers: KnownKey[];
  readonly #revoked: KnownKey[] = [];
  /** The last write under an Idempotency-Key, to be repeated. */
  #last: (() => Promise<Pair>) | null = null;
  #learnedSeq = 0;
  #counter = 0;

  private constructor(world: World, template: Template, { rules, coverage }: StageOptions) {
    this.world = world;
    this.template = template;
    this.coverage = coverage;
    this.model = new ProjectModel(rules, template.startMs);
    this.workers = [...template.workers];
    for (const [nth, { id }] of this.workers.entries()) this.names.give(id, `worker#${nth}`);
    this.names.give(template.routeId, 'route#0');
    for (const [name, id] of template.channels) this.names.give(id, name);
  }

  static async open(template: Template, options: StageOptions): Promise<Stage> {
    return new Stage(await World.open(template), template, options);
  }

  /** A number that no other step has. */
  next(): number {
    this.#counter += 1;
    return this.#counter;
  }

  /** A key that was never given is what there is before one was revoked. */
  key(who: Who, event = 'none'): KnownKey {
    const nth = who === 'holder' ? this.#holderOf(event) : who;
    return this.workers[nth] ?? this.#revoked.at(-1) ?? { id: '', apiKey: NOBODY };
  }

  #holderOf(event: string): number {
    const holder = this.model.inbox.find(event)?.at(this.model.now).holder?.key;
    return Math.max(
      this.workers.findIndex((one) => this.keyName(one) === holder),
      0,
    );
  }

  /** Puts another key in the place of one that was revoked. */
  replaceKey(nth: number, by: KnownKey): void {
    const old = this.workers[nth];
    if (old) this.#revoked.push(old);
    this.workers[nth] = by;
    this.names.give(by.id, `worker#${this.workers.length + this.#revoked.length - 1}`);
  }

  keyName(key: KnownKey): string {
    return key.id === '' ? '' : this.names.of(key.id);
  }

  /** Why a key is turned away before anything else is looked at. */
  refusalOf(key: KnownKey): Said | null {
    if (key.id === '') return refused('UNAUTHENTICATED');
    return this.#revoked.includes(key) ? refused('KEY_REVOKED') : null;
  }

  /** The name of the event that is meant. */
  event({ among, nth }: Pick): string {
    if (among === 'none') return 'none';
    const { events } = this.model.inbox;
    const { now } = this.model;
    const status = among === 'worn' ? 'pending' : among;
    const fitting = events.filter((one) => {
      const seen = one.at(now);
      return seen.status === status && !seen.routed;
    });
    if (among === 'worn') fitting.sort((a, b) => a.at(now).attempts - b.at(now).attempts);
    return pick(fitting.length > 0 ? fitting : events, nth)?.name ?? 'none';
  }

  request(nth: number): string {
    const { requests, now } = this.model;
    const pending = requests.filter((one) => one.at(now).status === 'pending');
    if (nth >= 0 && pending.length > 0) return pick(pending, nth)?.name ?? 'none';
    return pick(requests, Math.abs(nth))?.name ?? 'none';
  }

  channelId(name: string): string {
    return this.template.channels.get(name) ?? '';
  }

  channel(nth: number): string {
    return CHANNELS[nth] ?? 'owner';
  }

  /** The fields that are compared, with names for ids. */
  said(answer: Answered, fields: readonly string[]): Said {
    const value = fields.map((field): [string, unknown] => [
      field,
      this.names.in(answer.value[field]),
    ]);
    return { code: answer.code, value: answer.code === 'ok' ? Object.fromEntries(value) : {} };
  }

  /** A write by a key; with an Idempotency-Key, a later step can repeat it. */
  async write(
    by: { readonly key: Who; readonly once: string | null },
    write: Write,
    event?: string,
  ): Promise<Pair> {
    const key = this.key(by.key, event);
    const from = { key: this.keyName(key), once: by.once };
    const pair = (): Promise<Pair> => this.#checked(key, () => write(from));
    if (by.once !== null) this.#last = pair;
    return pair();
  }

  async repeat(): Promise<Pair | null> {
    return this.#last && this.#last();
  }

  apiKeyOf(from: From): string {
    const known = [...this.workers, ...this.#revoked].find(
      ({ id }) => this.names.of(id) === from.key,
    );
    return known?.apiKey ?? NOBODY;
  }

  async #checked(key: KnownKey, write: () => Promise<Pair>): Promise<Pair> {
    const refusal = this.refusalOf(key);
    if (!refusal) return write();
    // The model isn't asked, because nothing is compared.
    const answer = await this.world.call(key.apiKey, 'inbox_requeue', {
      event_id: this.names.idOf('none', 'evt'),
    });
    return { said: this.said(answer, []), expected: refusal };
  }

  /** Gives names to the events that the service wrote. */
  async learn(): Promise<void> {
    const isUnknown = this.model.inbox.events.some(
      ({ name, source }) => source === 'service' && this.names.find(name) === undefined,
    );
    if (!isUnknown) return;
    const { now } = this.model;
    const filter = { source: 'service', afterSeq: this.#learnedSeq, limit: 500, now } as const;
    const rows = await this.world.project.store.read(async ({ events }) => [
      ...(await events.page({ ...filter, status: 'pending' })),
      ...(await events.page({ ...filter, status: 'done' })),
    ]);
    const learned: string[] = [];
    for (const { id, seq, body, type } of rows.toSorted((a, b) => a.seq - b.seq)) {
      this.#learnedSeq = seq;
      if (this.template.old.has(id)) continue;
      const told = JSON.parse(Buffer.from(body ?? []).toString('utf8')) as Told;
      const name =
        type === 'delivery.exhausted'
          ? lossOf(this.names.of(told.event_id), told.attempts)
          : endOf(this.names.of(told.request_id));
      this.names.give(id, name);
      learned.push(name);
    }
    this.model.inbox.adoptOrder(learned);
  }

  /** Entries since the world began. */
  async ledgerLength(): Promise<number> {
    const { value } = await this.world.call(this.template.adminKey, 'ledger_query', { limit: 1 });
    const [head] = value['items'] as LedgerEntry[];
    return (head?.seq ?? 0) - this.template.ledgerLength;
  }

  /** The newest entries of the ledger, oldest first: operation, subject, outcome and key. */
  async newestEntries(count: number): Promise<string[]> {
    if (count === 0) return [];
    const { value } = await this.world.call(this.template.adminKey, 'ledger_query', {
      limit: count,
    });
    const entries = (value['items'] as LedgerEntry[]).toReversed();
    return entries
      .filter(({ seq }) => seq > this.template.ledgerLength)
      .map((one) => this.entry(one));
  }

  entry({ op, subject, outcome, code, key_id: key }: LedgerEntry): string {
    const by = key === null ? [] : [this.names.has(key) ? this.names.of(key) : 'admin'];
    const end = outcome === 'error' ? (code ?? 'error') : `${outcome}${code ?? ''}`;
    return [op, subject === null ? '-' : this.names.in(subject), end, ...by].join(' ');
  }

  /** The product may choose the order of simultaneous writes: the model adopts it. */
  async adoptOrder(from: number, kind: StepKind): Promise<void> {
    if (!kind.endsWith('at once') && !SEVERAL.has(kind)) return;
    const { ledger } = this.model;
    const expected = ledger.slice(from);
    const written = await this.newestEntries(expected.length);
    if (isDeepStrictEqual(written.toSorted(), expected.toSorted())) {
      ledger.splice(from, expected.length, ...written);
    }
  }

  close(): Promise<void> {
    return this.world.close();
  }
}

/** The fields of an entry that are compared. */
export interface LedgerEntry {
  readonly seq: number;
  readonly op: string;
  readonly subject: string | null;
  readonly outcome: string;
  readonly code: string | null;
  readonly key_id: string | null;
}

export interface StageOptions {
  readonly rules: Rules;
  readonly coverage: Coverage;
}

/** The payload of the service's own events. */
interface Told {
  readonly request_id: string;
  readonly event_id: string;
  readonly attempts: number;
}

/** Steps in which several may be pushed, or withdrawn, at once. */
const SEVERAL: ReadonlySet<StepKind> = new Set([
  'revoke',
  'deliver',
  'deliver again',
  'tick',
  'push on',
  'retry route',
]);

const NEWEST = 8;

/** Counted from the newest of a few. */
function pick<T>(all: readonly T[], nth: number): T | undefined {
  const newest = all.slice(-NEWEST);
  return newest.at(-1 - (nth % Math.max(newest.length, 1)));
}

export function same(pair: Pair, coverage: Coverage): void {
  coverage.code(pair.said.code);
  assert.deepStrictEqual(pair.said, pair.expected);
}
