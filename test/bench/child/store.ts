import { monitorEventLoopDelay } from 'node:perf_hooks';
import { join } from 'node:path';
import pino from 'pino';
import { Gateway } from '../../../gateway/gateway.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import { SERVICE } from '../../../shared/rules/actor.ts';
import type { Caller } from '../../../shared/kernel/context.ts';
import { operations } from '../../../shared/operations/index.ts';
import { CHAIN_START, verifyChunk, type LedgerEntry } from '../../../shared/rules/ledger-chain.ts';
import { directWriters, writerOf } from '../../helpers/writers.ts';
import { quantile } from '../stats.ts';
import { answerCalls } from './rpc.ts';
import { SEEDED, seedHistory, type History } from './seed.ts';
import type { Task } from './tasks.ts';

export interface StoreOptions {
  readonly folder: string;
  /** A project for each. */
  readonly histories: readonly History[];
}

/** A seeded project and who calls its operations. */
interface Subject {
  readonly project: Project;
  readonly caller: Caller;
  readonly pendingIds: readonly string[];
  at: number;
}

/** The short history fills a page of this many under every filter, too. */
const FILTERED = 5;
const SEEDED_BOTH = { source: SEEDED.source, type: SEEDED.typePrefix };

const never = new AbortController().signal;
let gateway: Gateway | null = null;
let subjects: Subject[] = [];

/** Makes the projects, fills their closed databases, and opens them again as after a start. */
async function openStores({ folder, histories }: StoreOptions): Promise<void> {
  const before = await openGateway(folder);
  const made: { id: string; apiKey: string; pendingIds: readonly string[]; history: History }[] =
    [];
  for (const [number, history] of histories.entries()) {
    const name = `history-${number}`;
    const { project, apiKey } = await before.createProject({ name, slug: name });
    made.push({ id: project.id, apiKey, pendingIds: [], history });
  }
  await before.close();
  for (const one of made) {
    const file = join(folder, 'projects', one.id, 'project.db');
    one.pendingIds = seedHistory(file, one.history).pendingIds;
  }
  gateway = await openGateway(folder);
  subjects = [];
  for (const { id, apiKey, pendingIds } of made) {
    subjects.push({ ...(await open(gateway, id, apiKey)), pendingIds, at: 0 });
  }
}

function openGateway(dataFolder: string): Promise<Gateway> {
  const url = 'http://127.0.0.1';
  return Gateway.open({
    dataFolder,
    urls: { api: url, mcp: url, hooks: url },
    ratePerMinute: 0,
    log: pino({ level: 'error' }, pino.destination(2)),
    // What it costs to cross to another thread is the same whatever the history, and would hide a part of the growth.
    openWriters: (options) => directWriters(options),
    onFatal: (error) => {
      throw error;
    },
  });
}

async function open(
  from: Gateway,
  projectId: string,
  apiKey: string,
): Promise<{ project: Project; caller: Caller }> {
  const project = await from.projects.find(projectId);
  if (!project) throw new Error('The project is gone.');
  const caller = await from.executor.authenticate({
    authorization: `Bearer ${apiKey}`,
    agentHeader: undefined,
    userAgent: undefined,
    requestId: 'bench',
    idempotencyKey: undefined,
  });
  return { project, caller };
}

/** A task that costs far too much must not hold up the bench: a few samples say so, too. */
const SAMPLE_MS = 2000;
const SAMPLES_MIN = 5;

/** The median time of a task in one of the projects, in milliseconds. */
async function sample(wanted: {
  subject: number;
  task: keyof typeof TASK;
  times: number;
}): Promise<number> {
  const subject = subjects[wanted.subject];
  if (!subject) throw new Error('There is no such project.');
  const samples: number[] = [];
  const endsAt = performance.now() + SAMPLE_MS;
  for (let time = 0; time < wanted.times; time += 1) {
    samples.push(await TASK[wanted.task](subject));
    if (samples.length >= SAMPLES_MIN && performance.now() > endsAt) break;
  }
  return quantile(samples, 0.5);
}

const TASK: Readonly<Record<Task | 'list keys', (subject: Subject) => Promise<number>>> = {
  'list keys': (subject) => timed(subject, 'kv_list', { prefix: 'bench/' }),
  'claim + ack': claimAndAck,
  wait: (subject) => timed(subject, 'inbox_wait', { timeout_seconds: 1 }),
  'wait, type prefix': (subject) =>
    timed(subject, 'inbox_wait', { type: SEEDED.typePrefix, timeout_seconds: 1 }),
  list: (subject) => timed(subject, 'inbox_list', {}),
  'list, type prefix': (subject) =>
    timed(subject, 'inbox_list', { type: SEEDED.typePrefix, limit: FILTERED }),
  'list, source': (subject) =>
    timed(subject, 'inbox_list', { source: SEEDED.source, limit: FILTERED }),
  'list, source and type prefix': (subject) =>
    timed(subject, 'inbox_list', { ...SEEDED_BOTH, limit: FILTERED }),
};

/** Gives a project so many keys. */
async function fillKeys(wanted: { subject: number; count: number }): Promise<void> {
  const subject = subjects[wanted.subject];
  if (!subject) throw new Error('There is no such project.');
  for (let number = 0; number < wanted.count; number += 1) {
    await execute(subject.caller, 'kv_set', { key: `bench/${number}`, value: number });
  }
}

async function claimAndAck(subject: Subject): Promise<number> {
  // A stride that meets every index page in turn, and each event once a round trip.
  subject.at = (subject.at + 7_919) % subject.pendingIds.length;
  const id = subject.pendingIds[subject.at] ?? '';
  const ms =
    (await timed(subject, 'inbox_claim', { event_id: id })) +
    (await timed(subject, 'inbox_ack', { event_id: id }));
  await writerOf(subject.project).write(async (store) => {
    const row = await store.events.find(id);
    if (!row) throw new Error('The event is gone.');
    const pending = {
      status: 'pending',
      attempts: 0,
      lease_id: null,
      holder_key_id: null,
      due_at: null,
      routed: false,
    } as const;
    await store.events.setQueue(row.seq, pending, null);
  });
  return ms;
}

async function timed(subject: Subject, name: string, input: unknown): Promise<number> {
  const start = performance.now();
  await execute(subject.caller, name, input);
  return performance.now() - start;
}

async function execute(caller: Caller, name: string, input: unknown): Promise<unknown> {
  const operation = operations.find((one) => one.name === name);
  if (!gateway || !operation) throw new Error(`There is no operation ${name}.`);
  return (await gateway.executor.execute(operation, input, caller, never)).value;
}

export interface Verified {
  readonly perSecond: number;
  /** The longest the event loop was held, in milliseconds. */
  readonly heldMs: number;
}

const APPENDED_TOGETHER = 500;
let ledgerKeeper: { project: Project; caller: Caller } | null = null;

/** A project whose ledger has this many entries, all linked. */
async function openLedger(wanted: { folder: string; entries: number }): Promise<void> {
  gateway = await openGateway(wanted.folder);
  const { project: info, apiKey } = await gateway.createProject({ name: 'ledger', slug: 'ledger' });
  ledgerKeeper = await open(gateway, info.id, apiKey);
  const { project } = ledgerKeeper;
  const ledgerWriter = await project.ledgerWriter();
  const digest = ledgerWriter.digest('an input');
  for (let done = 1; done < wanted.entries; done += APPENDED_TOGETHER) {
    const count = Math.min(APPENDED_TOGETHER, wanted.entries - done);
    await writerOf(project).write(async (store) => {
      for (let number = 0; number < count; number += 1) {
        const action = {
          actor: SERVICE,
          op: 'event.received',
          subject: `evt_${done + number}`,
          inputDigest: digest,
        };
        await ledgerWriter.record(store, action, Date.now());
      }
    });
  }
}

async function verifyLedger(): Promise<Verified> {
  if (!ledgerKeeper) throw new Error('No ledger is open.');
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const start = performance.now();
  const answer = await execute(ledgerKeeper.caller, 'ledger_verify', {});
  const seconds = (performance.now() - start) / 1000;
  delay.disable();
  const { ok, checked } = answer as { ok: boolean; checked: number };
  if (!ok) throw new Error('The ledger does not verify.');
  return { perSecond: checked / seconds, heldMs: delay.max / 1e6 };
}

/** The same check over entries that lie in memory already, in entries a second. */
async function verifyInMemory(): Promise<number> {
  if (!ledgerKeeper) throw new Error('No ledger is open.');
  const { project } = ledgerKeeper;
  const entries: LedgerEntry[] = await project.store.read((store) =>
    store.ledger.range(1, Number.MAX_SAFE_INTEGER, -1),
  );
  const start = performance.now();
  const verified = verifyChunk(project.info.id, CHAIN_START, entries);
  if (!verified.ok) throw new Error('The ledger does not verify.');
  return entries.length / ((performance.now() - start) / 1000);
}

answerCalls({ openStores, sample, fillKeys, openLedger, verifyLedger, verifyInMemory });
