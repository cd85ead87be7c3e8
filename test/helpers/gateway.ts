import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { Gateway } from '../../gateway/gateway.ts';
import type { GatewayOptions } from '../../gateway/options.ts';
import type { DeletionClock } from '../../gateway/projects/trusted-clock.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { foundProject, serve, type SignInSite } from './founding.ts';
import { anyStore, type Store } from './shared-store.ts';
import { beginOnePageEarlier, hasClock, hasNoClock, MovingClock } from './reading.ts';
import { cloningWriters } from './writers.ts';

/** Gateways of one store know of each other soon, and a slow machine isn't taken for a dead one. */
export const TIMING = { beatMs: 150, deadAfterMs: 240_000, unsureAfterMs: 200_000 };

/** `remote` gives every gateway its own libSQL server. */
const STORE = process.env['SVC_TEST_STORE'];

/** A clock that moves only when told to. */
export class FakeClock implements Clock {
  #now: number;

  constructor(start = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

/** Trusts the clock at once. */
export const STEADY: DeletionClock = { asOf: (now) => now, waitMs: () => 0 };
/** Doesn't trust the clock yet. */
export const UNSTEADY: DeletionClock = { asOf: () => null, waitMs: () => 3_600_000 };

/** A folder that goes with the test. */
export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/**
 * A gateway over a server is a hosted one, so somebody signs in and founds the project; otherwise it's the project of the
 * machine, as in local mode.
 */
async function newProject(
  gateway: Gateway,
  { isHosted, ...site }: SignInSite & { readonly isHosted: boolean },
): Promise<{ projectId: string; apiKey: string }> {
  const slug = `t-${Date.now()}${randomInt(1000, 10_000)}`;
  if (isHosted) {
    const { id, apiKey } = await foundProject(site, { slug });
    return { projectId: id, apiKey };
  }
  const { project, apiKey } = await gateway.createProject({ name: 'Test', slug });
  return { projectId: project.id, apiKey };
}

/** The server of this gateway alone, where each is to have one. */
async function ownStore(given: GatewayOptions['store'], folder: string): Promise<Store | null> {
  return STORE === 'remote' && !given ? await anyStore(folder) : null;
}

function addressesOf(
  url: string,
  contentHost: string | undefined,
): Pick<GatewayOptions, 'urls' | 'contentUrl'> {
  return {
    urls: { api: url, mcp: `${url}/mcp`, hooks: url },
    ...(contentHost !== undefined && { contentUrl: url.replace('127.0.0.1', contentHost) }),
  };
}

/** A real gateway over real HTTP in a temporary folder, with one project and its admin key. */
export class TestGateway {
  readonly gateway: Gateway;
  readonly url: string;
  readonly projectId: string;
  readonly apiKey: string;
  readonly folder: string;
  readonly #server: Server;
  readonly #own: Store | null;
  readonly #remove: () => void;

  private constructor(parts: {
    gateway: Gateway;
    url: string;
    projectId: string;
    apiKey: string;
    folder: string;
    server: Server;
    own: Store | null;
    remove: () => void;
  }) {
    this.gateway = parts.gateway;
    this.url = parts.url;
    this.projectId = parts.projectId;
    this.apiKey = parts.apiKey;
    this.folder = parts.folder;
    this.#server = parts.server;
    this.#own = parts.own;
    this.#remove = parts.remove;
  }

  static async start(
    options: Partial<
      Pick<
        GatewayOptions,
        | 'blobs'
        | 'callbackAllow'
        | 'callbackDeadlineMs'
        | 'clock'
        | 'masterKeyFile'
        | 'openProjectsMax'
        | 'openWriters'
        | 'messaging'
        | 'readCertificate'
        | 'deletionClock'
        | 'ingress'
        | 'log'
        | 'store'
        | 'ratePerMinute'
        | 'signIn'
        | 'signUp'
        | 'mailLimits'
        | 'checkAnswers'
      >
    > & {
      folder?: string;
      /** What strangers wrote is under this name, at the same port. */
      contentHost?: string;
      /** Uses the project of another gateway over the same store instead of creating one. */
      projectOf?: Pick<TestGateway, 'projectId' | 'apiKey'>;
    } = {},
  ): Promise<TestGateway> {
    const temporary = options.folder
      ? { path: options.folder, remove: () => undefined }
      : temporaryFolder();
    // The server must not close a connection just as a call goes out.
    const server = createServer({ keepAliveTimeout: 0 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { folder: _folder, contentHost, projectOf, ...given } = options;
    const clock = given.clock ?? new MovingClock();
    hasClock(url, clock);
    const own = await ownStore(given.store, temporary.path);
    // Without an outbox there's no letter to read.
    const isHosted = Boolean(own ?? given.store) && !given.messaging;
    if (isHosted && !projectOf) beginOnePageEarlier(clock);
    const gateway = await Gateway.open({
      dataFolder: temporary.path,
      ...addressesOf(url, contentHost),
      ratePerMinute: 0,
      checkAnswers: true,
      log: pino({ level: process.env['SVC_TEST_LOG'] ?? 'fatal' }),
      onFatal: () => undefined,
      deletionClock: STEADY,
      openWriters: cloningWriters,
      clusterTiming: TIMING,
      ...(own && { store: own.store }),
      signIn: isHosted,
      ...given,
      clock,
    });
    serve(server, gateway);
    const site = { url, folder: temporary.path, isHosted };
    const { projectId, apiKey } = projectOf ?? (await newProject(gateway, site));
    return new TestGateway({
      gateway,
      url,
      projectId,
      apiKey,
      folder: temporary.path,
      server,
      own,
      remove: temporary.remove,
    });
  }

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options: { body?: unknown; key?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer<T>> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${options.key ?? this.apiKey}`,
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as T };
  }

  /** Adds a source and returns its URL. */
  async addSource(source: Record<string, unknown>): Promise<string> {
    const answer = await this.call<{ url: string }>('POST', '/v1/sources', {
      body: { type: 'webhook', ...source },
    });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.url;
  }

  /** Posts a body to a hook URL. */
  async deliver(
    url: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Answer<Record<string, unknown>>> {
    const response = await fetch(url, { method: 'POST', body, headers });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, unknown>,
    };
  }

  /** A key with these scopes. */
  async key(...scopes: string[]): Promise<string> {
    const answer = await this.call<{ api_key: string }>('POST', '/v1/keys', {
      body: { name: 'test', scopes },
    });
    return answer.body.api_key;
  }

  async stop(options: { keepFolder?: boolean } = {}): Promise<void> {
    await this.gateway.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    hasNoClock(this.url);
    await this.#own?.stop();
    if (!options.keepFolder) this.#remove();
  }
}
