import { rmSync } from 'node:fs';
import { makeSwiftFolder } from './swift-folder.ts';
import { LOOPBACK, Receiver } from '../gateway/callbacks/callback-receiver.ts';
import { TestPeople } from '../gateway/approvals/people.ts';
import { Routes } from '../shared/operations/route/routes.ts';
import { FakeClock, TestGateway } from '../helpers/gateway.ts';
import { CHANNELS, PUSHED } from './project-model.ts';

const DAY_MS = 86_400_000;
/** Old enough that time changes nothing more about the template's own events. */
const AGE_MS = 70 * DAY_MS;

const WORKERS = 3;
const SOURCES = ['open', 'other', PUSHED] as const;
const WORKER_SCOPES = ['inbox:read', 'inbox:write', 'approvals'] as const;

/** A key as its holder knows it, and as the ledger names it. */
export interface KnownKey {
  readonly id: string;
  readonly apiKey: string;
}

/** A project on disk, with keys, sources and people: every world starts as a copy of it. */
export interface Template {
  readonly folder: string;
  readonly projectId: string;
  readonly adminKey: string;
  readonly workers: readonly KnownKey[];
  /** Where deliveries go, by source. */
  readonly hooks: Readonly<Record<string, string>>;
  /** Ids of channels, by name. */
  readonly channels: ReadonlyMap<string, string>;
  /** Its initial contents: ids of events and requests, and its ledger's length. */
  readonly old: ReadonlySet<string>;
  readonly ledgerLength: number;
  /** When its worlds begin. */
  readonly startMs: number;
  /** Where the route of the source `pushed` leads. */
  readonly receiver: Receiver;
  readonly routeId: string;
  readonly remove: () => Promise<void>;
}

export async function makeTemplate(): Promise<Template> {
  const folder = makeSwiftFolder();
  const clock = new FakeClock();
  const receiver = await Receiver.start();
  const gateway = await TestGateway.start({ clock, folder, callbackAllow: LOOPBACK });
  const people = await TestPeople.of(gateway, clock);
  for (const name of CHANNELS.slice(1)) await people.activeChannel(`${name}@example.com`, name);
  const hooks: Record<string, string> = {};
  for (const name of SOURCES) hooks[name] = await gateway.addSource({ name });
  const workers: KnownKey[] = [];
  for (let nth = 0; nth < WORKERS; nth += 1) workers.push(await newWorker(gateway));
  const route = await new Routes(gateway).add(receiver.url(), { match_source: PUSHED });
  const channels = (await people.channels()).map((one): [string, string] => [one.label, one.id]);
  await closeAll(gateway);
  clock.advance(AGE_MS);
  await people.maintenance();
  const old = [
    ...(await idsOf(gateway, '/v1/requests', 'request_id')),
    ...(await idsOf(gateway, '/v1/inbox?status=done', 'id')),
  ];
  const { body: ledger } = await gateway.call<{ items: { seq: number }[] }>(
    'GET',
    '/v1/ledger?limit=1',
  );
  await gateway.stop({ keepFolder: true });
  return {
    folder,
    projectId: gateway.projectId,
    adminKey: gateway.apiKey,
    workers,
    hooks,
    channels: new Map(channels),
    old: new Set(old),
    ledgerLength: ledger.items[0]?.seq ?? 0,
    startMs: clock.now(),
    receiver,
    routeId: route.id,
    remove: async () => {
      await receiver.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The events of how those people were let in: no worker is to find them. */
async function closeAll(gateway: TestGateway): Promise<void> {
  for (const event_id of await idsOf(gateway, '/v1/inbox', 'id')) {
    await gateway.call('POST', '/v1/inbox/claim', { body: { event_id } });
    await gateway.call('POST', '/v1/inbox/ack', { body: { event_id } });
  }
}

async function newWorker(gateway: TestGateway): Promise<KnownKey> {
  const { body } = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
    body: { name: 'worker', scopes: WORKER_SCOPES },
  });
  return { id: body.id, apiKey: body.api_key };
}

async function idsOf(gateway: TestGateway, path: string, field: string): Promise<string[]> {
  const { body } = await gateway.call<{ items: Record<string, string>[] }>('GET', path);
  return body.items.map((item) => item[field] ?? '');
}
