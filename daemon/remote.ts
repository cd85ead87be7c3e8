import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { Admission } from '../shared/admission/admission.ts';
import { emptyApp, leadBrowsers, mountApi, nothingAt } from '../shared/api/api.ts';
import { reply, type HttpEnv } from '../shared/api/http.ts';
import { isoTime } from '../shared/lib/clock.ts';
import { ServiceError } from '../shared/lib/errors.ts';
import { VERSION } from '../shared/lib/version.ts';
import type { GatewayProfile } from './chosen-profile.ts';
import type { Home } from './home.ts';
import { watchKey } from './key-watch.ts';
import type { Backend } from './listener.ts';
import type { ReplicaReport } from './record.ts';
import { ReplicaExecutor } from './replica/serve/executor.ts';
import { replicaPath } from './replica-paths.ts';
import { Replica } from './replica/replica.ts';
import { Upstream } from './upstream/upstream.ts';

interface RemoteOptions {
  readonly home: Home;
  readonly profile: GatewayProfile;
  /** Base address of this daemon. */
  readonly baseUrl: string;
  readonly log: Logger;
  readonly admission: Admission;
}

/** A gateway's project inside the daemon: a replica for reads, and the gateway behind it. */
export interface Remote {
  readonly fetch: NonNullable<Backend['fetch']>;
  /** Where senders deliver, without a slash at the end. The gateway's own value, as soon as we know it. */
  readonly hooksUrl: string;
  replica(): ReplicaReport;
  /** Makes the replica accept its present ledger as the base for comparisons. False while there's no replica. */
  acceptLedger(): Promise<boolean>;
  endWaits(): Promise<void>;
  close(): Promise<void>;
}

/** How long the start waits for the gateway's first answer. Only the addresses that the daemon prints depend on it. */
const FIRST_WORD_MS = 1_500;

/** Resolves once the daemon can answer. The gateway answers until the replica, made in the background, is ready. */
export async function openRemote(options: RemoteOptions): Promise<Remote> {
  const { profile, log, admission } = options;
  const gateway = new URL(profile.gateway);
  const upstream = new Upstream(gateway, { line: () => copy.replica?.contact ?? null });
  const copy = new CurrentCopy(options, gateway, () => upstream.returned());
  const executor = new ReplicaExecutor({
    projectId: profile.project,
    replica: () => copy.replica,
    upstream,
    admission,
  });
  await copy.firstWord(FIRST_WORD_MS);
  const onInternal = (error: unknown, requestId: string): void =>
    log.error({ err: error, request_id: requestId }, 'failed');
  const app = emptyApp(onInternal, (path) => missing(path, gateway));
  const { baseUrl } = options;
  const urls = { api: baseUrl, mcp: `${baseUrl}/mcp`, hooks: copy.hooksUrl };
  leadBrowsers(app, `${gateway.href.replace(/\/+$/, '')}/ui`);
  for (const path of ['/ui', '/ui/*']) app.get(path, (c) => toGateway(c, gateway));
  mountApi(app, { executor, server: { version: VERSION, urls }, onInternal, isReplica: true });
  return {
    fetch: (request, env) => app.fetch(request, env),
    get hooksUrl() {
      return copy.hooksUrl;
    },
    replica: () => copy.report(),
    acceptLedger: () => copy.acceptLedger(),
    endWaits: async () => executor.endWaits(),
    close: async () => {
      await copy.close();
      await upstream.close();
    },
  };
}

/** The present replica; replaces it when a command stores another key. */
class CurrentCopy {
  readonly #options: RemoteOptions;
  readonly #gateway: URL;
  readonly #stopWatching: () => void;
  readonly #onReturn: () => void;
  #replica: Replica | null;
  /** Replaces replicas one at a time. */
  #work: Promise<void> = Promise.resolve();

  /** Calls `onReturn` when the gateway answers after a silence. */
  constructor(options: RemoteOptions, gateway: URL, onReturn: () => void) {
    const { home, profile, log } = options;
    this.#onReturn = onReturn;
    this.#options = options;
    this.#gateway = gateway;
    this.#replica = this.#open(profile.api_key);
    const watched = { file: home.credentialsFile, profileName: profile.profileName, profile, log };
    this.#stopWatching = watchKey(watched, (apiKey) => this.#goOnWith(apiKey));
  }

  /** Null while one replica replaces another. */
  get replica(): Replica | null {
    return this.#replica;
  }

  get hooksUrl(): string {
    return this.#replica?.info?.server.urls.hooks ?? this.#gateway.href.replace(/\/+$/, '');
  }

  /** Resolves when the gateway has described itself or failed to, at the latest after `withinMs`. */
  firstWord(withinMs: number): Promise<void> {
    const replica = this.#replica;
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop?.();
        resolve();
      };
      const look = (): void => {
        if (!replica || replica.info || replica.status.state !== 'connecting') done();
      };
      const timer = setTimeout(done, withinMs);
      const stop = replica?.onChange(look);
      look();
    });
  }

  report(): ReplicaReport {
    return this.#replica ? reportOf(this.#replica) : CONNECTING;
  }

  async acceptLedger(): Promise<boolean> {
    await this.#replica?.acceptLedger();
    return this.#replica !== null;
  }

  async close(): Promise<void> {
    this.#stopWatching();
    await this.#work;
    await this.#replica?.close();
  }

  #goOnWith(apiKey: string): void {
    const { log } = this.#options;
    log.info('the stored key changed: the replica now uses it');
    this.#work = this.#work
      .then(() => this.#replaceBy(apiKey))
      .catch((error: unknown) =>
        log.error({ err: error }, 'no replica with the new key: restart the daemon'),
      );
  }

  async #replaceBy(apiKey: string): Promise<void> {
    const replica = this.#replica;
    this.#replica = null;
    await replica?.close();
    this.#replica = this.#open(apiKey);
  }

  #open(apiKey: string): Replica {
    const { home, profile, log, admission } = this.#options;
    return Replica.open({
      folder: replicaPath(home, profile.project),
      projectId: profile.project,
      gateway: this.#gateway,
      apiKey,
      log,
      admission,
      ledgerHeadsFile: home.ledgerHeadsFile,
      onReturn: this.#onReturn,
    });
  }
}

const CONNECTING: ReplicaReport = {
  state: 'connecting',
  reads: 'gateway',
  position: null,
  behind: 0,
  age_ms: null,
  offline_since: null,
  copied: null,
  detail: null,
  code: null,
  witness: { ok: true, seq: 0 },
};

const READS = { live: 'local', stale: 'stale', no: 'gateway' } as const;

function reportOf(replica: Replica): ReplicaReport {
  const { state, position, behind, ageMs, offlineSince, copied, detail, code, witness } =
    replica.status;
  const { usable } = replica.freshness();
  const isLate = usable === 'live' && replica.contact.isSilent;
  return {
    state,
    reads: isLate ? 'late' : READS[usable],
    position,
    behind,
    age_ms: ageMs === null ? null : Math.round(ageMs),
    offline_since: offlineSince === null ? null : isoTime(offlineSince),
    copied,
    detail,
    code,
    witness,
  };
}

/** The gateway serves the web inbox. */
function toGateway(c: Context<HttpEnv>, gateway: URL): Response {
  const { pathname, search } = new URL(c.req.url);
  const base = gateway.href.replace(/\/+$/, '');
  return reply(c, null, 302, {
    Location: `${base}${pathname}${search}`,
    'Cache-Control': 'no-store',
  });
}

/** Paths that only the gateway serves, but that callers sometimes try here. */
const AT_THE_GATEWAY =
  /^\/(?:[wludfac]\/|telegram\/|v1\/(?:auth|replica|ui)(?:\/|$)|v1\/projects(?:\/|$))/;

function missing(path: string, gateway: URL): ServiceError {
  if (!AT_THE_GATEWAY.test(path)) return nothingAt(path);
  const hint = `Use the gateway for webhooks, links, pages and sign-in: ${gateway.origin}`;
  return new ServiceError('NOT_FOUND', { hint });
}
