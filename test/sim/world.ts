import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { basename, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import { Gateway } from '../../gateway/gateway.ts';
import type { Choice } from '../../gateway/approvals/approvals.ts';
import type { Project } from '../../gateway/projects/project.ts';
import { maintain } from '../../gateway/projects/maintenance.ts';
import { createVault, loadMasterKey } from '../../gateway/lib/vault.ts';
import { systemClock, type Clock } from '../../shared/lib/clock.ts';
import { asServiceError } from '../../shared/lib/errors.ts';
import { operations } from '../../shared/operations/index.ts';
import { noticeAad } from '../../shared/operations/request/notify.ts';
import { LOOPBACK } from '../gateway/callbacks/callback-receiver.ts';
import { directWriters } from '../helpers/writers.ts';
import { makeSwiftFolder } from './swift-folder.ts';
import type { Template } from './template.ts';

const URL = 'http://sim.test';
const byName = new Map(operations.map((one) => [one.name, one]));

/** An answer of the product, with its own ids. */
export interface Answered {
  readonly code: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * The real thing: a gateway over real databases in its own folder. The test sets its clock, maintenance runs when a step
 * says so, and the only network is a route's receiver.
 */
export class World {
  readonly #template: Template;
  readonly #wall: Wall;
  #open: Opened;
  #dyingIn: number | null = null;

  private constructor(template: Template, wall: Wall, open: Opened) {
    this.#template = template;
    this.#wall = wall;
    this.#open = open;
  }

  static async open(template: Template): Promise<World> {
    const wall = { ms: template.startMs };
    return new World(template, wall, await openFolder(copyOf(template.folder), template, wall));
  }

  get project(): Project {
    return this.#open.project;
  }

  setClock(wallMs: number): void {
    this.#wall.ms = wallMs;
    // Noticed at once, as by a process that is never idle.
    this.#open.clock.now();
  }

  /** Makes the process die this many turns of the event loop after the next call begins; then the call is repeated. */
  dieIn(turns: number): void {
    this.#dyingIn = turns;
  }

  /** One call as a door makes it: the key is checked, then the operation runs. */
  async call(...call: Parameters<World['run']>): Promise<Answered> {
    const turns = this.#dyingIn;
    this.#dyingIn = null;
    if (turns === null) return this.run(...call);
    let answer: Answered | null = null;
    const early = this.run(...call);
    const lost = keepQuiet(early, (one) => (answer = one));
    for (let nth = 0; nth < turns; nth += 1) await turn();
    const before = answer;
    await this.crash();
    await lost;
    const again = await this.run(...call);
    // An answer before the death was durable, so the repeat gets the same one.
    if (before) assert.deepStrictEqual(again, before);
    return again;
  }

  private async run(
    apiKey: string,
    name: string,
    input: Record<string, unknown>,
    options: { readonly once?: string | null; readonly signal?: AbortSignal } = {},
  ): Promise<Answered> {
    const { executor } = this.#open.gateway;
    const operation = byName.get(name);
    if (!operation) throw new Error(`There is no operation ${name}.`);
    const { once = null, signal = new AbortController().signal } = options;
    try {
      const caller = await executor.authenticate({
        authorization: `Bearer ${apiKey}`,
        agentHeader: undefined,
        userAgent: undefined,
        requestId: 'sim',
        idempotencyKey: once ?? undefined,
      });
      const { value } = await executor.execute(operation, input, caller, signal);
      return { code: 'ok', value: (value ?? {}) as Record<string, unknown> };
    } catch (error) {
      const shown = asServiceError(error);
      if (shown.code === 'INTERNAL') throw error;
      return { code: shown.code, value: {} };
    }
  }

  /** A POST to a hook URL, without a socket between. */
  async deliver(source: string, body: string, providerId: string | null): Promise<Answered> {
    const path = new globalThis.URL(this.#template.hooks[source] ?? '').pathname;
    const incoming = posted(path, body, providerId);
    const request = new Request(URL + path, { method: 'POST', body, duplex: 'half' });
    const answer = await this.#open.gateway.app.fetch(request, { incoming, outgoing: {} });
    const value = (await answer.json()) as { error?: { code: string } } & Record<string, unknown>;
    return value.error ? { code: value.error.code, value: {} } : { code: 'ok', value };
  }

  async decide(token: string, choice: Choice): Promise<string> {
    return (await this.#open.gateway.approvals.decide(token, choice))?.outcome ?? 'none';
  }

  /** The links that were sent about a request, by the id of the channel. */
  async links(requestId: string): Promise<Map<string, string>> {
    const notices = await this.#open.project.store.read((store) =>
      store.notices.ofRequest(requestId),
    );
    const vault = createVault(loadMasterKey(join(this.#open.folder, 'master.key')));
    const links = notices.flatMap(({ id, channel_id, token }): [string, string][] => {
      if (!token) return [];
      const opened = vault.open(noticeAad(this.#open.project.info.id, id), token);
      return [[channel_id, Buffer.from(opened).toString('utf8')]];
    });
    return new Map(links);
  }

  /** Writes down what time has done. */
  async tick(): Promise<void> {
    const { got } = this.#template.receiver;
    const before = got.length;
    await maintain(this.#open.project, this.#open.clock);
    await this.settled();
    // A push meanwhile may have ended too late for the rest.
    if (got.length === before) return;
    await maintain(this.#open.project, this.#open.clock);
    await this.settled();
  }

  /** Nothing is being sent any more. */
  async settled(): Promise<void> {
    const { notifications, deliveries } = this.#open.project;
    while (notifications.isBusy || deliveries.isBusy) await turn();
  }

  async restart(): Promise<void> {
    const { gateway, folder } = this.#open;
    await gateway.close();
    this.#open = await openFolder(folder, this.#template, this.#wall);
  }

  /**
   * The process dies at this moment: what the files hold now is all that the next one finds. Whatever the old one had under
   * way comes to nothing that anybody sees.
   */
  async crash(): Promise<void> {
    const before = this.#open;
    this.#open = await openFolder(copyOf(before.folder), this.#template, this.#wall);
    await before.gateway.close();
    rmSync(before.folder, { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.#open.gateway.close();
    rmSync(this.#open.folder, { recursive: true, force: true });
  }
}

/** The machine's clock. */
interface Wall {
  ms: number;
}

interface Opened {
  readonly folder: string;
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly project: Project;
}

async function openFolder(folder: string, { projectId }: Template, wall: Wall): Promise<Opened> {
  const clock = systemClock(() => wall.ms);
  const gateway = await Gateway.open({
    dataFolder: folder,
    urls: { api: URL, mcp: `${URL}/mcp`, hooks: URL },
    ratePerMinute: 0,
    checkAnswers: true,
    clock,
    log: pino({ level: 'fatal' }),
    onFatal: () => undefined,
    openWriters: directWriters,
    callbackAllow: LOOPBACK,
  });
  // Before it knows of any project: this silences its scheduler, and ends no wait.
  await gateway.endWaits();
  const project = await gateway.projects.find(projectId);
  if (!project) throw new Error('The project is not there.');
  return { folder, clock, gateway, project };
}

/** Drops the outcome of a call whose process dies, unless it was answered before. */
async function keepQuiet<T>(work: Promise<T>, onAnswer: (answer: T) => void): Promise<void> {
  try {
    onAnswer(await work);
  } catch {
    // It died.
  }
}

/** Leaves the sent messages out: no gateway reads them. */
function copyOf(folder: string): string {
  const copy = makeSwiftFolder();
  cpSync(folder, copy, { recursive: true, filter: (path) => basename(path) !== 'outbox' });
  return copy;
}

function posted(path: string, body: string, providerId: string | null): IncomingMessage {
  const incoming = new IncomingMessage(new Socket());
  const headers = {
    'content-type': 'text/plain',
    ...(providerId !== null && { 'webhook-id': providerId }),
  };
  incoming.method = 'POST';
  incoming.url = path;
  incoming.headers = headers;
  incoming.rawHeaders = Object.entries(headers).flat();
  incoming.push(body);
  incoming.push(null);
  return incoming;
}
