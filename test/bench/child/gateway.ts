import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import pino from 'pino';
import { Listener, type Backend } from '../../../daemon/listener.ts';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import { Gateway } from '../../../gateway/gateway.ts';
import type { DeliveryAnswer } from '../../../gateway/commit/commands/inbox/delivery.ts';
import type { OutputOf } from '../../../gateway/commit/commands.ts';
import { InProcessWriters } from '../../../gateway/commit/thread/in-process.ts';
import { ThreadWriters } from '../../../gateway/commit/thread/thread.ts';
import type { Writers, WritersOptions } from '../../../gateway/commit/thread/writers.ts';
import { Admission } from '../../../shared/admission/admission.ts';
import { newId } from '../../../shared/lib/ids.ts';
import { routeAdd } from '../../../shared/operations/route/add.ts';
import { answerCalls } from './rpc.ts';
import { forgetRests, seedDeliveries, seedHistory } from './seed.ts';

/** What a client needs to know of the gateway under test. */
export interface Served {
  readonly url: string;
  readonly hookUrl: string;
  readonly apiKey: string;
  /** Ids of the events it was given to begin with. */
  readonly eventIds: readonly string[];
}

export interface ServeOptions {
  readonly folder: string;
  readonly secret: string;
  /**
   * `durable` is the product. `no-database` answers a delivery where the product would queue it for the database.
   * `commit-each` lets one write into the queue at a time, so that each has a commit of its own. `one-thread` writes in the
   * thread that takes requests.
   */
  readonly variant: 'durable' | 'no-database' | 'commit-each' | 'one-thread';
  /** Pending events to begin with. */
  readonly events?: number;
}

export interface PushOptions {
  readonly folder: string;
  readonly urls: readonly string[];
  /** A further destination, which never answers. */
  readonly deadUrl: string | null;
  /** Deliveries to each. */
  readonly each: number;
}

export interface KeyedProject {
  readonly apiKeys: readonly string[];
}

let gateway: Gateway | null = null;
let projectIds: string[] = [];

/** The gateway behind the listener of the daemon. */
async function serve(options: ServeOptions): Promise<Served> {
  const { folder, secret, variant, events = 0 } = options;
  const backend: Backend = {
    fetch: null,
    admission: Admission.local(),
    control: () => false,
  };
  const listener = await Listener.onLoopback(0, backend);
  const url = `http://127.0.0.1:${listener.port}`;
  const open = (): Promise<Gateway> => openGateway(folder, url, variant);
  gateway = await open();
  const { project, apiKey } = await gateway.createProject({ name: 'Bench', slug: 'bench' });
  let eventIds: readonly string[] = [];
  if (events > 0) {
    await gateway.close();
    const file = join(folder, 'projects', project.id, 'project.db');
    eventIds = seedHistory(file, { events, pending: 'all' }).pendingIds;
    gateway = await open();
  }
  const { app } = gateway;
  backend.fetch = (request, env) => app.fetch(request, env);
  const hookUrl = await addSource(url, apiKey, secret);
  return { url, hookUrl, apiKey, eventIds };
}

/** A gateway that finds deliveries in its rows when it opens. */
async function servePush({ folder, urls, deadUrl, each }: PushOptions): Promise<null> {
  const open = (): Promise<Gateway> => openGateway(folder, 'http://127.0.0.1', 'durable');
  gateway = await open();
  const { project, apiKey } = await gateway.createProject({ name: 'Bench', slug: 'bench' });
  const routes: { id: string; url: string }[] = [];
  const { executor } = gateway;
  const caller = await executor.authenticate({
    authorization: `Bearer ${apiKey}`,
    agentHeader: undefined,
    userAgent: undefined,
    requestId: 'bench',
    idempotencyKey: undefined,
  });
  const { signal } = new AbortController();
  for (const url of [...urls, ...(deadUrl === null ? [] : [deadUrl])]) {
    const route = await executor.execute(routeAdd, { callback_url: url }, caller, signal);
    routes.push({ id: (route.value as { id: string }).id, url });
  }
  await gateway.close();
  const file = join(folder, 'projects', project.id, 'project.db');
  seedHistory(file, { events: each, pending: 'all' });
  seedDeliveries(file, routes, each);
  forgetRests(join(folder, 'control.db'));
  gateway = await open();
  return null;
}

function openGateway(
  dataFolder: string,
  url: string,
  variant: ServeOptions['variant'],
): Promise<Gateway> {
  return Gateway.open({
    openWriters: openWriters(variant),
    dataFolder,
    urls: { api: url, mcp: `${url}/mcp`, hooks: url },
    ratePerMinute: 0,
    callbackAllow: CallbackAllow.parse('127.0.0.0/8'),
    log: pino({ level: 'error' }, pino.destination(2)),
    onFatal: (error) => {
      throw error;
    },
  });
}

async function addSource(url: string, apiKey: string, secret: string): Promise<string> {
  const answer = await fetch(`${url}/v1/sources`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', type: 'webhook', verification: 'github', secret }),
  });
  const source = (await answer.json()) as { url: string };
  return source.url;
}

/** The writing side of the product, bent as the variant says. */
function openWriters(variant: ServeOptions['variant']): (options: WritersOptions) => Writers {
  return (options) => {
    if (variant === 'one-thread') return new InProcessWriters(options);
    const writers = new ThreadWriters(options);
    const run = writers.run.bind(writers);
    if (variant === 'no-database') writers.run = answerAtOnce(run);
    if (variant === 'commit-each') writers.run = oneByOne(run);
    return writers;
  };
}

function answerAtOnce(run: Writers['run']): Writers['run'] {
  return (projectId, name, input) => {
    if (name !== 'delivery') return run(projectId, name, input);
    const answer: DeliveryAnswer = { status: 'accepted', event_id: newId('evt', Date.now()) };
    return Promise.resolve(answer as OutputOf<typeof name>);
  };
}

function oneByOne(run: Writers['run']): Writers['run'] {
  const lastOf = new Map<string, Promise<unknown>>();
  return (projectId, name, input) => {
    const result = (lastOf.get(projectId) ?? Promise.resolve()).then(() =>
      run(projectId, name, input),
    );
    lastOf.set(
      projectId,
      result.catch(() => undefined),
    );
    return result;
  };
}

async function addProjects(wanted: { count: number; keys: number }): Promise<KeyedProject[]> {
  const made: KeyedProject[] = [];
  projectIds = [];
  for (let number = 0; number < wanted.count; number += 1) {
    const { project, apiKey } = await opened().createProject({
      name: `Project ${number}`,
      slug: `project-${number}`,
    });
    const apiKeys = [apiKey];
    while (apiKeys.length < wanted.keys) {
      apiKeys.push((await opened().createAdminKey(project.id)).apiKey);
    }
    projectIds.push(project.id);
    made.push({ apiKeys });
  }
  return made;
}

async function waiting(): Promise<number> {
  let count = 0;
  for (const id of projectIds) count += (await opened().projects.find(id))?.waits.size ?? 0;
  return count;
}

/** Resident bytes once the garbage is gone. */
function memory(): number {
  for (let pass = 0; pass < 3; pass += 1) globalThis.gc?.();
  return process.memoryUsage().rss;
}

function opened(): Gateway {
  if (!gateway) throw new Error('No gateway is open.');
  return gateway;
}

/** The least that answers over hono behind Node's server. */
async function serveHello(): Promise<string> {
  const app = new Hono().get('/', (c) => c.text('hello world'));
  const server = createServer((request, response) => void listener(request, response));
  const listener = getRequestListener(app.fetch);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let held = 0;

/** A bare server that holds each request and never answers. */
async function serveHolding(): Promise<string> {
  const server = createServer(() => {
    held += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

answerCalls({
  serve,
  servePush,
  addProjects,
  waiting,
  memory,
  serveHello,
  serveHolding,
  held: () => held,
});
