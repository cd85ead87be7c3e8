import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCredentials } from '../../../daemon/credentials.ts';
import { resolveHome } from '../../../daemon/home.ts';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import { checkDatabase } from '../../../gateway/store/check-database.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { TestGateway } from '../../helpers/gateway.ts';
import { directWriters } from '../../helpers/writers.ts';
import { StockClient } from '../../gateway/replica/stock-client.ts';
import { bodyOf, deliver, NotDone, sha256 } from './driver.ts';
import { EVENT_STATES, type Delivery, type EventState, type Facts, type Held } from './facts.ts';

type Json = Record<string, unknown>;

/** Deliveries that are sent again. */
const REPEATED_MAX = 12;
const PAYLOADS_MAX = 4;
const REPLICA_TRIES = 5;

/**
 * Opens the data after a power cut or a kill and compares it with what the daemon acknowledged. Returns a line per fault:
 * `lost: …` if acknowledged work is missing, `damaged: …` for the rest. `withReplica` takes longer.
 */
export async function check(
  home: string,
  facts: Facts,
  { withReplica = false }: { readonly withReplica?: boolean } = {},
): Promise<string[]> {
  const { ready } = facts;
  if (!ready) throw new Error('Nothing was acknowledged: the daemon itself has to open this.');
  const { credentialsFile, dataFolder } = resolveHome({ SVC_HOME: home });
  const stored = readCredentials(credentialsFile)?.profiles['default'];
  if (stored?.api_key !== ready.key) return ['lost: the key of the project'];
  const databases = ['control.db', join('projects', ready.project, 'project.db')];
  const missing = databases.filter((path) => !existsSync(join(dataFolder, path)));
  if (missing.length > 0) return missing.map((path) => `lost: ${path}`);
  const summed = await otherThanTheirSums(dataFolder, databases);
  if (summed.length > 0) return summed;
  try {
    const problems = await lookInto(dataFolder, { facts, withReplica }, ready);
    return [...problems, ...databases.flatMap((path) => unsound(join(dataFolder, path)))];
  } catch (error) {
    return [`damaged: it does not open: ${String(error)}`];
  }
}

async function lookInto(
  dataFolder: string,
  { facts, withReplica }: { readonly facts: Facts; readonly withReplica: boolean },
  { project, key }: NonNullable<Facts['ready']>,
): Promise<readonly string[]> {
  const gateway = await TestGateway.start({
    folder: dataFolder,
    projectOf: { projectId: project, apiKey: key },
    openWriters: directWriters,
    callbackAllow: CallbackAllow.parse('127.0.0.0/8'),
  });
  try {
    const look = new Look(gateway, dataFolder, facts);
    await look.all();
    if (withReplica) await look.replica();
    return look.problems;
  } finally {
    await gateway.stop({ keepFolder: true });
  }
}

/** Before anything opens them: a checkpoint may have been cut anywhere. */
async function otherThanTheirSums(
  dataFolder: string,
  databases: readonly string[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const path of databases) {
    const options = { dataFolder, project: null };
    for await (const step of checkDatabase(join(dataFolder, path), options)) {
      if ('what' in step) problems.push(`damaged: ${step.file}: ${step.what} has another sum`);
    }
  }
  return problems;
}

function unsound(path: string): string[] {
  return withRawDatabase(path, (database) =>
    [...database.all('PRAGMA integrity_check'), ...database.all('PRAGMA foreign_key_check')]
      .map((row) => Object.values(row).join(' '))
      .filter((line) => line !== 'ok')
      .map((line) => `damaged: ${path}: ${line}`),
  );
}

/** One look at all there is. */
class Look {
  readonly problems: string[] = [];
  readonly #gateway: TestGateway;
  readonly #dataFolder: string;
  readonly #facts: Facts;

  constructor(gateway: TestGateway, dataFolder: string, facts: Facts) {
    this.#gateway = gateway;
    this.#dataFolder = dataFolder;
    this.#facts = facts;
  }

  async all(): Promise<void> {
    this.#blobs();
    const verified = await this.#call('POST', '/v1/ledger/verify', {});
    if (verified['ok'] !== true) this.#damaged(`the ledger: ${JSON.stringify(verified)}`);
    const found = await this.#events();
    this.#eventStates(found);
    await this.#deliveries(found);
    await this.#payloads(found);
    await this.#values();
    await this.#files();
    await this.#requests();
    await this.#mails();
    await this.#goesOn();
  }

  /** Of the project. */
  get #folder(): string {
    return join(this.#dataFolder, 'projects', this.#gateway.projectId);
  }

  #lost(what: string): void {
    this.problems.push(`lost: ${what}`);
  }

  #damaged(what: string): void {
    this.problems.push(`damaged: ${what}`);
  }

  async #call(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.#gateway.call<Json>(method, path, {
      ...(body !== undefined && { body }),
    });
    if (answer.status < 300) return answer.body;
    if (answer.status !== 404) this.#damaged(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return {};
  }

  /** Every blob that a row names exists and matches its digest. */
  #blobs(): void {
    const rows = withRawDatabase(join(this.#folder, 'project.db'), (database) =>
      database.all('SELECT digest FROM blob'),
    );
    for (const { digest } of rows as { digest: string }[]) {
      const path = join(this.#folder, 'blobs', digest.slice(0, 2), digest);
      if (!existsSync(path)) this.#lost(`the bytes of ${digest}`);
      else if (sha256(readFileSync(path)) !== digest) this.#damaged(`the bytes of ${digest}`);
    }
  }

  async #events(): Promise<Map<string, Json>> {
    const found = new Map<string, Json>();
    for (const status of EVENT_STATES) {
      for (const [id, event] of await this.#eventsThatAre(status)) {
        if (found.has(id)) this.#damaged(`${id} is there twice`);
        found.set(id, event);
      }
    }
    // An event that was failed at the first look may be pending when this asks for failed ones.
    return new Map([...(await this.#eventsThatAre('pending')), ...found]);
  }

  async #eventsThatAre(status: EventState): Promise<[id: string, event: Json][]> {
    const found: [string, Json][] = [];
    for (let cursor = ''; ;) {
      const page = await this.#call('GET', `/v1/inbox?status=${status}&limit=100${cursor}`);
      const items = (page['items'] ?? []) as Json[];
      found.push(...items.map((event): [string, Json] => [String(event['id']), event]));
      if (typeof page['next_cursor'] !== 'string') return found;
      cursor = `&cursor=${page['next_cursor']}`;
    }
  }

  #eventStates(found: ReadonlyMap<string, Json>): void {
    for (const [event, held] of this.#facts.events) {
      const row = found.get(event);
      if (!row) {
        if (held.sure !== undefined) this.#lost(`${event}, which was ${held.sure}`);
        continue;
      }
      const state = row['status'] as EventState;
      // What has failed is pending again after a while.
      const isAgain = state === 'pending' && Number(row['attempts']) > 0;
      if (!isOneOf(held, isAgain ? 'failed' : state)) {
        this.#lost(`${event} is ${state}, not ${String(held.sure)}`);
      }
    }
    for (const [event, { source, status }] of found) {
      const isPushed = source === 'routed' && status === 'done';
      if (isPushed && !this.#facts.pushed.has(event)) this.#lost(`the push of ${event}`);
    }
  }

  /** The same delivery again is a duplicate, and one that nobody heard of is taken once. */
  async #deliveries(found: ReadonlyMap<string, Json>): Promise<void> {
    const all = [...this.#facts.deliveries.values()];
    const ids = new Set(found.keys());
    for (const { event, id } of all) {
      if (event !== null && !ids.has(event)) this.#lost(`delivery ${id} as ${event}`);
    }
    const unanswered = all.filter(({ event }) => event === null);
    const newest = all.filter(({ event }) => event !== null).slice(-REPEATED_MAX);
    for (const delivery of [...unanswered, ...newest]) await this.#repeat(delivery);
  }

  async #repeat({ source, id, bytes, event, digest }: Delivery): Promise<void> {
    const body = wholeBody(id, bytes);
    if (sha256(body) !== digest) throw new Error(`The body of ${id} is not what was sent.`);
    const url = this.#gateway.url + (this.#facts.sources.get(source) ?? '');
    try {
      const first = event === null ? await deliver(url, id, body) : null;
      const answer = await deliver(url, id, body);
      const isSame = answer.event_id === (event ?? first?.event_id);
      if (answer.status !== 'duplicate' || !isSame)
        this.#lost(`delivery ${id}, which was taken twice`);
    } catch (error) {
      if (!(error instanceof NotDone)) throw error;
      this.#damaged(`delivery ${id} again: ${error.message}`);
    }
  }

  /** Large bodies are read back through the front door. */
  async #payloads(found: ReadonlyMap<string, Json>): Promise<void> {
    const large = [...this.#facts.deliveries.values()].filter(
      ({ event, bytes }) => bytes > 256 * 1024 && found.get(event ?? '')?.['status'] === 'pending',
    );
    for (const { event, id, digest } of large.slice(-PAYLOADS_MAX)) {
      const claimed = await this.#call('POST', '/v1/inbox/claim', { event_id: event });
      const answer = await fetch(String(claimed['payload_url'])).catch(() => null);
      const bytes = Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0));
      if (sha256(bytes) !== digest) this.#damaged(`the payload of ${id}`);
    }
  }

  async #values(): Promise<void> {
    for (const [name, held] of this.#facts.kv) {
      const isState = name.startsWith('state/');
      const path = isState ? `/v1/${name}` : `/v1/kv/${encodeURIComponent(name)}`;
      const stored = (await this.#call('GET', path)) as Json | null;
      const value = stored?.[isState ? 'state' : 'value'];
      if (!isOneOf(held, value as string | undefined)) {
        this.#lost(`${name} is ${String(value)}, not ${String(held.sure)}`);
      }
    }
  }

  async #files(): Promise<void> {
    for (const [name, held] of this.#facts.files) {
      const file = await this.#call('GET', `/v1/files/${name}`);
      const isThere = file['path'] === name;
      const value = isThere ? await digestOf(file) : held.sure === undefined ? undefined : null;
      if (!isOneOf(held, value))
        this.#lost(`${name} is ${String(value)}, not ${String(held.sure)}`);
    }
  }

  async #requests(): Promise<void> {
    for (const [id, held] of this.#facts.requests) {
      const { status } = await this.#call('GET', `/v1/requests/${id}`);
      if (!isOneOf(held, status as 'pending' | 'approved' | undefined)) {
        this.#lost(`${id} is ${String(status)}, not ${String(held.sure)}`);
      }
    }
  }

  async #mails(): Promise<void> {
    const outbox = join(this.#dataFolder, 'outbox');
    const files = existsSync(outbox)
      ? readdirSync(outbox).filter((name) => name.endsWith('.eml'))
      : [];
    const empty = files.filter((name) => readFileSync(join(outbox, name)).length === 0);
    for (const name of empty) this.#damaged(`the mail ${name}`);
    for (const batch of this.#facts.mails) {
      const { messages } = await this.#call('GET', `/v1/emails/${batch}`);
      if (!messages) this.#lost(batch);
      for (const { status, message_id } of (messages ?? []) as Json[]) {
        const isKept = files.some((name) => name.includes(String(message_id)));
        if (status === 'sent' && !isKept) this.#lost(`the mail ${String(message_id)}`);
      }
    }
  }

  /** A copy that is begun now comes to the same. */
  async replica(): Promise<void> {
    const replica = await this.#copied();
    try {
      if (!(await this.#agrees(replica))) this.#damaged('a replica');
    } finally {
      await replica.stop();
    }
  }

  /** A generation may end between two calls of a client, which then has to start over. */
  async #copied(tries = REPLICA_TRIES): Promise<StockClient> {
    const { epoch } = await this.#call('GET', '/v1/replica');
    try {
      return await StockClient.open({
        path: join(this.#dataFolder, `replica-${tries}.db`),
        syncUrl: `${this.#gateway.url}/v1/replica/${String(epoch)}`,
        authToken: this.#gateway.apiKey,
      });
    } catch (error) {
      if (tries === 1 || !String(error).includes('copy the project anew')) throw error;
      return this.#copied(tries - 1);
    }
  }

  async #agrees(replica: StockClient): Promise<boolean> {
    // Background work may come in between.
    for (let tries = 0; tries < REPLICA_TRIES; tries += 1) {
      const { position } = await this.#call('GET', '/v1/replica');
      const { items } = await this.#call('GET', '/v1/ledger?limit=1');
      await replica.sync();
      const found = [
        await replica.value("SELECT value FROM meta WHERE name = 'commit_seq'"),
        await replica.value('SELECT hash FROM ledger ORDER BY seq DESC LIMIT 1'),
        await replica.value('PRAGMA integrity_check'),
      ];
      const wanted = [position, (items as Json[])[0]?.['hash'], 'ok'];
      if (JSON.stringify(found) === JSON.stringify(wanted)) return true;
    }
    return false;
  }

  /** It works on. */
  async #goesOn(): Promise<void> {
    await this.#call('PUT', '/v1/kv/after', 'the power is back');
    const verified = await this.#call('POST', '/v1/ledger/verify', {});
    if (verified['ok'] !== true)
      this.#damaged(`the ledger afterwards: ${JSON.stringify(verified)}`);
  }
}

function isOneOf<T>(held: Held<T>, value: T | undefined): boolean {
  return value === held.sure || (value !== undefined && held.maybe.includes(value));
}

function wholeBody(id: string, bytes: number): Buffer<ArrayBuffer> {
  const frame = bodyOf(id, 0).length;
  return bodyOf(id, bytes - frame + id.length);
}

async function digestOf(file: Json): Promise<string> {
  const { content_base64: inline, download_url: link } = file;
  if (typeof inline === 'string') return sha256(Buffer.from(inline, 'base64'));
  return sha256(Buffer.from(await (await fetch(String(link))).arrayBuffer()));
}
