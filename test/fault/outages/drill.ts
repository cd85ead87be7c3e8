import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { LossyProxy } from '../../helpers/lossy-proxy.ts';
import { Member, type Called, type TeamProject } from '../../helpers/team.ts';

const SVC = resolve('dist/svc.cjs');
const PATIENCE = { timeout: 60_000, interval: 50 };
/** In an outage of this length there is time for commands. */
const COMMANDS_MS = 10_000;
/** How often a value is read again after the outage, to see whether an older one comes back. */
const READS = 60;

export interface DrillWanted {
  readonly name: string;
  readonly folder: string;
  readonly gateway: string;
  readonly project: TeamProject;
  readonly outageMs: number;
  /** How the connection fails: refused and broken, or silent. */
  readonly kind: 'broken' | 'silent';
  /** Whether the member writes as soon as the line is back, or only reads. */
  readonly writes: boolean;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Answers while the gateway was away. */
export interface Away {
  readonly read: Called;
  readonly usage: Called;
  readonly write: Called;
  /** With a key that was made after the line went. */
  readonly newKey: Called;
  /** With one that was revoked after it. */
  readonly revokedRead: Called;
  readonly revokedWrite: Called;
}

/** What commands and tools said then. */
export interface Said {
  readonly readCommand: Ran;
  readonly writeCommand: Ran;
  readonly readTool: readonly string[];
  readonly writeTool: readonly string[];
  readonly replica: Record<string, unknown>;
}

/** Results from the moment the connection works again. */
export interface Back {
  /** Null where the member only reads. */
  readonly write: Called | null;
  /** Reads of its own write, one after the other. */
  readonly own: readonly Called[];
  /** Someone else's write and a revoked key: tried as soon as a write is answered. */
  readonly theirs: Called;
  readonly revoked: Called;
  readonly waited: Called;
}

export interface Drilled {
  readonly lineUrl: string;
  /** Null where the line was silent: nobody knows then that the gateway is away. */
  readonly away: Away | null;
  /** Null where the outage was too short for commands. */
  readonly said: Said | null;
  readonly back: Back;
  /** A command with `--retry-for` that started in the outage; null without one. */
  readonly retried: Ran | null;
  /** A read and a write on a silent line; null on another one. */
  readonly silent: { readonly read: Called; readonly write: Called } | null;
  /** The event in the worker's hands when the connection broke, and one that came meanwhile. */
  readonly events: {
    readonly before: Record<string, unknown>;
    readonly meanwhile: Record<string, unknown>;
  };
  /** The event that the wait was for. */
  readonly awaited: string;
}

interface Prepared {
  readonly keyId: string;
  readonly key: string;
  readonly workHook: string;
  readonly waitHook: string;
  readonly worker: ChildProcess;
  readonly eventId: string;
  readonly waiting: Promise<Called>;
}

/** A member, the line to the gateway, and what happens to it. */
export class Drill {
  readonly #wanted: DrillWanted;
  readonly #line: LossyProxy;
  readonly #member: Member;
  readonly #home: string;

  private constructor(wanted: DrillWanted, line: LossyProxy, member: Member, home: string) {
    this.#wanted = wanted;
    this.#line = line;
    this.#member = member;
    this.#home = home;
  }

  static async open(wanted: DrillWanted): Promise<Drill> {
    const line = await LossyProxy.open(wanted.gateway);
    const home = join(wanted.folder, wanted.name);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const member = new Member({ home, gateway: line.url, project: wanted.project });
    await member.up();
    return new Drill(wanted, line, member, home);
  }

  async close(): Promise<void> {
    await this.#member.down();
    await this.#line.down();
  }

  async run(): Promise<Drilled> {
    const { outageMs, kind, name } = this.#wanted;
    const prepared = await this.#prepare();
    if (kind === 'broken') await this.#line.down();
    else this.#line.freeze();
    const endsAt = performance.now() + outageMs;
    await this.#there('DELETE', `/v1/keys/${prepared.keyId}`);
    await this.#there('PUT', `/v1/kv/theirs-${name}`, { n: 1 });
    const meanwhile = await deliver(prepared.workHook);
    const awaited = await deliver(prepared.waitHook);
    const isLong = kind === 'broken' && outageMs >= COMMANDS_MS;
    const write = ['kv', 'set', `retried-${name}`, '"done"', '--retry-for', '5m'];
    const retried = isLong ? this.#command(write) : null;
    const silent = kind === 'silent' ? { read: await this.#read('own') } : null;
    const late = silent && this.#member.call('PUT', `/v1/kv/late-${name}`, { n: 1 });
    const away = kind === 'broken' ? await this.#whileAway(prepared) : null;
    const said = isLong ? await this.#said() : null;
    await sleep(Math.max(0, endsAt - performance.now()));
    if (kind === 'broken') await this.#line.up();
    else this.#line.thaw();
    const back = await this.#whenBack(prepared);
    return {
      lineUrl: this.#line.url,
      away,
      said,
      back,
      awaited,
      retried: await retried,
      silent: silent && late && { ...silent, write: await late },
      events: await this.#worked(prepared, meanwhile),
    };
  }

  /** A live copy, a second key, a worker in the middle of an event, and a wait. */
  async #prepare(): Promise<Prepared> {
    const { name } = this.#wanted;
    const key = await this.#there('POST', '/v1/keys', { name, scopes: ['disk'] });
    const addHook = async (kind: string): Promise<string> => {
      const source = { type: 'webhook', name: `${kind}-${name}` };
      return String((await this.#there('POST', '/v1/sources', source))['url']);
    };
    const [workHook, waitHook] = [await addHook('work'), await addHook('wait')];
    await this.#member.call('PUT', `/v1/kv/own-${name}`, { n: 0 });
    await vi.waitUntil(async () => (await this.#replica())['state'] === 'live', PATIENCE);
    const reading = await this.#read('own', String(key['api_key']));
    if (reading.status !== 200) throw new Error(JSON.stringify(reading.body));
    const work = ['inbox', 'work', '--source', `work-${name}`, '--exec', 'sleep 1; cat'];
    const worker = spawn(process.execPath, [SVC, ...work], {
      env: { ...process.env, SVC_HOME: this.#home },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const eventId = await deliver(workHook);
    await vi.waitUntil(async () => (await this.#event(eventId))['status'] === 'claimed', PATIENCE);
    const query = `source=wait-${name}&timeout_seconds=100`;
    const waiting = this.#member.call('GET', `/v1/inbox/wait?${query}`);
    const { id: keyId, api_key: secret } = key as { id: string; api_key: string };
    return { keyId, key: secret, workHook, waitHook, worker, eventId, waiting };
  }

  async #whileAway({ key }: Prepared): Promise<Away> {
    const { name } = this.#wanted;
    // Known to be away a moment later, when the first attempt to connect has failed.
    const isMarked = async (): Promise<Called | null> => {
      const read = await this.#read('own');
      return read.headers.has('x-service-stale') ? read : null;
    };
    const read = await vi.waitUntil(isMarked, PATIENCE);
    const made = await this.#there('POST', '/v1/keys', { name: 'new', scopes: ['disk'] });
    const path = `/v1/kv/own-${name}`;
    return {
      read,
      usage: await this.#member.call('GET', '/v1/usage'),
      write: await this.#member.call('PUT', path, { n: 'away' }),
      newKey: await this.#read('own', String(made['api_key'])),
      revokedRead: await this.#read('own', key),
      revokedWrite: await this.#member.call('PUT', path, { n: 'revoked' }, key),
    };
  }

  async #said(): Promise<Said> {
    const key = `own-${this.#wanted.name}`;
    return {
      readTool: await this.#tool('kv_get', { key }),
      writeTool: await this.#tool('kv_set', { key, value: 'away' }),
      readCommand: await this.#command(['kv', 'get', key, '--json']),
      writeCommand: await this.#command(['kv', 'set', key, '"away"']),
      replica: await this.#replica(),
    };
  }

  async #whenBack({ key, waiting }: Prepared): Promise<Back> {
    const { name, writes } = this.#wanted;
    const write = writes ? await this.#member.call('PUT', `/v1/kv/own-${name}`, { n: 1 }) : null;
    const first = {
      theirs: await this.#unmarked('theirs'),
      revoked: await this.#unmarked('own', key),
    };
    const own: Called[] = [];
    let isRevoked = first.revoked.status !== 200;
    // Ends when the key is refused, too.
    for (let n = 0; n < READS || !isRevoked; n += 1) {
      own.push(await this.#read('own'));
      isRevoked ||= (await this.#read('own', key)).status !== 200;
      await sleep(20);
    }
    return { write, own, ...first, waited: await waiting };
  }

  async #worked({ worker, eventId }: Prepared, meanwhile: string): Promise<Drilled['events']> {
    const ids = [eventId, meanwhile];
    const look = async (): Promise<Record<string, unknown>[] | null> => {
      const found = await Promise.all(ids.map((id) => this.#event(id)));
      return found.every(({ status }) => status === 'done') ? found : null;
    };
    const [before = {}, after = {}] = await vi.waitUntil(look, PATIENCE);
    worker.kill('SIGTERM');
    await once(worker, 'exit');
    return { before, meanwhile: after };
  }

  #read(what: 'own' | 'theirs', key?: string): Promise<Called> {
    return this.#member.call('GET', `/v1/kv/${what}-${this.#wanted.name}`, undefined, key);
  }

  /** The first read that isn't marked: a gateway that's slow for a moment is not waited for. */
  #unmarked(what: 'own' | 'theirs', key?: string): Promise<Called> {
    return vi.waitUntil(async () => {
      const read = await this.#read(what, key);
      return read.headers.has('x-service-stale') ? null : read;
    }, PATIENCE);
  }

  #event(id: string): Promise<Record<string, unknown>> {
    return this.#there('GET', `/v1/inbox/events/${id}`);
  }

  async #replica(): Promise<Record<string, unknown>> {
    return (await this.#member.json(['status']))['replica'] as Record<string, unknown>;
  }

  #command(args: readonly string[]): Promise<Ran> {
    const env = { ...process.env, SVC_HOME: this.#home };
    return new Promise((done) => {
      execFile(process.execPath, [SVC, ...args], { env }, (error, out, err) =>
        done({ code: Number(error?.code ?? 0), out, err }),
      );
    });
  }

  /** The texts of a tool's answer. */
  async #tool(name: string, input: object): Promise<string[]> {
    const params = { name, arguments: input };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { body } = await this.#member.call('POST', '/mcp', call);
    const { content } = body['result'] as { content: { text: string }[] };
    return content.map(({ text }) => text);
  }

  /** A call to the gateway itself, past the line. */
  async #there(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const { gateway, project } = this.#wanted;
    const response = await fetch(gateway + path, {
      method,
      headers: {
        authorization: `Bearer ${project.apiKey}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return JSON.parse(text || '{}') as Record<string, unknown>;
  }
}

/** Posts to a hook of the gateway; answers the event's id. */
async function deliver(hook: string): Promise<string> {
  const headers = { 'webhook-id': randomUUID() };
  const response = await fetch(hook, { method: 'POST', headers, body: '{"from":"outside"}' });
  return ((await response.json()) as { event_id: string }).event_id;
}
