import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { Admission } from '../shared/admission/admission.ts';
import { isoTime, systemClock } from '../shared/lib/clock.ts';
import { gcAfterStart } from '../shared/host/gc-after-start.ts';
import { VERSION } from '../shared/lib/version.ts';
import { answerJson } from '../shared/http/answers.ts';
import type { HttpServer } from '../shared/http/http-server.ts';
import { chosenProfile, type GatewayProfile } from './chosen-profile.ts';
import { makePrivateFolder } from './files.ts';
import type { Home } from './home.ts';
import { Listener, type Backend } from './listener.ts';
import { removeOldCopies } from './old-copies.ts';
import type { Local, LocalOptions } from './local.ts';
import { takeLock, type Lock } from '../shared/store/engine/lock.ts';
import {
  ACCEPT_LEDGER_PATH,
  askStatus,
  describeHolder,
  OWNER_PATH,
  STATUS_PATH,
  STOP_PATH,
} from './probe.ts';
import { portOwner } from '../shared/host/processes.ts';
import { isMailAddress } from '../shared/rules/mail/mail-address.ts';
import { DEFAULT_PORT, rememberedPort, rememberPort } from './port.ts';
import type { Remote } from './remote.ts';
import { writeRecord, type DaemonRecord, type DaemonStatus } from './record.ts';
import { StartRefusal } from '../shared/host/start-refusal.ts';
import { errorCode } from '../shared/lib/guards.ts';
import { unwritableText } from './unwritable.ts';

export interface DaemonOptions {
  readonly home: Home;
  /** Has the settings for blobs, messages to people and callbacks. */
  readonly env: NodeJS.ProcessEnv;
  /** 0 takes a free port; null takes the port that an earlier start chose. */
  readonly port: number | null;
  /** The stored profile of the project to serve (default: the current profile). */
  readonly profile?: string | undefined;
  /** The owner's email address; undefined keeps the present owner. Local mode only, like `ratePerMinute`. */
  readonly owner?: string | undefined;
  readonly ratePerMinute: number;
  /** Called only with the lock held: creating the log may rotate the log file of a running daemon. */
  readonly createLog: () => Logger;
  /** Called when a command asks the daemon to stop, or when the disk fails. */
  readonly onEnd: (exitCode: number) => void;
  readonly openWriters?: LocalOptions['openWriters'];
}

/** How long pending answers may take during shutdown. */
const FINISH_MS = 2500;
const CHOSEN_BEFORE = ' svc remembered this port because URLs you gave out contain it.';

/** The local process: a lock, two listeners, and behind them the project, or a replica of it and its gateway. */
export class Daemon {
  readonly #options: DaemonOptions;
  readonly #lock: Lock;
  readonly #backend: Backend;
  readonly #listeners: HttpServer[] = [];
  readonly log: Logger;
  #record: DaemonRecord;
  #local: Local | null = null;
  #remote: Remote | null = null;
  #stopped: Promise<void> | null = null;

  private constructor(options: DaemonOptions, lock: Lock) {
    this.#options = options;
    this.#lock = lock;
    this.log = options.createLog();
    this.#backend = {
      fetch: null,
      admission: Admission.local(),
      control: (request, response) => this.#control(request, response),
    };
    this.#record = newRecord(options.home.socketPath);
  }

  /** Resolves once the daemon answers. Throws `StartRefusal` if a person must fix something first. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { home } = options;
    const unwritable = unwritableText(home);
    if (unwritable !== null) throw new StartRefusal(unwritable, 'settings');
    const lock = takeLock(home.lockFile);
    if (!lock) throw new StartRefusal(`Already running: ${await describeHolder(home)}.`, 'held');
    await removeStale(home);
    const daemon = new Daemon(options, lock);
    try {
      await daemon.#open();
    } catch (error) {
      await daemon.stop();
      throw error;
    }
    return daemon;
  }

  get record(): DaemonRecord {
    return this.#record;
  }

  /** Accepts no more calls, finishes pending answers, closes the stores, and removes its record and lock. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { home } = this.#options;
    const wasReady = this.#record.state === 'ready';
    if (wasReady) this.log.info('ending');
    const closing = Promise.all(this.#listeners.map((listener) => listener.close(FINISH_MS)));
    await this.#local?.endWaits();
    await this.#remote?.endWaits();
    await closing;
    await this.#local?.close();
    await this.#remote?.close();
    rmSync(home.daemonFile, { force: true });
    this.#lock.release();
    if (wasReady) this.log.info('ended');
  }

  async #open(): Promise<void> {
    const { home } = this.#options;
    const profile = chosenProfile(home.credentialsFile, this.#options.profile);
    removeOldCopies(home, systemClock().now(), this.log);
    await (profile ? this.#openRemote(profile) : this.#openLocal());
    this.#keepPort();
    this.#update({ state: 'ready' });
    const { base_url, project, mode } = this.#record;
    this.log.info({ base_url, version: VERSION, project, mode }, 'ready');
    gcAfterStart();
  }

  /** Each mode loads on demand, because it's the larger part of the daemon. */
  async #openLocal(): Promise<void> {
    const { home, env, owner, ratePerMinute, onEnd, openWriters } = this.#options;
    const { openLocal, readLocalSettings } = await import('./local.ts');
    const settings = readLocalSettings(env);
    const base = await this.#listen();
    this.#local = await openLocal({
      home,
      admission: this.#backend.admission,
      settings,
      owner: owner ?? null,
      urls: { api: base, mcp: `${base}/mcp`, hooks: base },
      ratePerMinute,
      log: this.log,
      onFatal: (error) => {
        this.log.fatal({ err: error }, 'the disk failed a write');
        onEnd(1);
      },
      openWriters,
    });
    this.#backend.fetch = this.#local.fetch;
    this.#update({ project: this.#local.project.id });
  }

  async #openRemote(profile: GatewayProfile): Promise<void> {
    const { openRemote } = await import('./remote.ts');
    const { gateway, project } = profile;
    this.#record = { ...this.#record, mode: 'replica', gateway, project };
    const baseUrl = await this.#listen();
    const { home } = this.#options;
    const { admission } = this.#backend;
    this.#remote = await openRemote({ home, profile, baseUrl, log: this.log, admission });
    this.#backend.fetch = this.#remote.fetch;
    this.#update({ hooks_url: this.#remote.hooksUrl });
  }

  /** Starts listening and returns the base address. Until the backend is ready, requests get UNAVAILABLE. */
  async #listen(): Promise<string> {
    const { home } = this.#options;
    const tcp = await this.#listenOnLoopback();
    const base = `http://127.0.0.1:${tcp.port}`;
    this.#update({ base_url: base, mcp_url: `${base}/mcp`, hooks_url: base });
    this.#listeners.push(await Listener.onSocket(home.socketPath, this.#backend));
    chmodSync(home.socketPath, 0o600);
    return base;
  }

  async #listenOnLoopback(): Promise<HttpServer> {
    const { home, port: asked } = this.#options;
    const remembered = asked === null ? rememberedPort(home.settingsFile) : null;
    const port = asked ?? remembered ?? DEFAULT_PORT;
    try {
      const listener = await Listener.onLoopback(port, this.#backend);
      this.#listeners.push(listener);
      return listener;
    } catch (error) {
      const code = errorCode(error);
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
      const owner = code === 'EADDRINUSE' ? ` by ${portOwner(port) ?? 'another process'}` : '';
      const what = code === 'EADDRINUSE' ? `is taken${owner}` : "isn't allowed for this user";
      throw new StartRefusal(
        `Port ${port} ${what}.${remembered === null ? '' : CHOSEN_BEFORE} Free it, or choose another: svc up --port 0`,
        'port',
      );
    }
  }

  /** Later starts keep the requested port, even if port 0 picked it. */
  #keepPort(): void {
    const { home, port } = this.#options;
    if (port === null) return;
    rememberPort(home.settingsFile, Number(new URL(this.#record.base_url).port));
  }

  #update(change: Partial<DaemonRecord>): void {
    this.#record = { ...this.#record, ...change };
    writeRecord(this.#options.home.daemonFile, this.#record);
  }

  #control(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request;
    const [path, query] = url.split('?', 2);
    if (method === 'GET' && url === STATUS_PATH) {
      void this.#status().then((status) => answerJson(response, 200, status));
    } else if (method === 'POST' && url === STOP_PATH) {
      answerJson(response, 202, { pid: process.pid });
      this.#options.onEnd(0);
    } else if (method === 'POST' && path === OWNER_PATH) {
      const address = new URLSearchParams(query).get('address') ?? '';
      void this.#setOwner(address).then((done) => answerJson(response, done ? 200 : 400, { done }));
    } else if (method === 'POST' && url === ACCEPT_LEDGER_PATH) {
      void this.#acceptLedger().then((done) => answerJson(response, done ? 200 : 503, { done }));
    } else {
      return false;
    }
    return true;
  }

  async #acceptLedger(): Promise<boolean> {
    try {
      return (await this.#remote?.acceptLedger()) ?? false;
    } catch (error) {
      this.log.error({ err: error }, "couldn't accept the ledger");
      return false;
    }
  }

  async #setOwner(address: string): Promise<boolean> {
    const local = this.#local;
    if (!local || !isMailAddress(address)) return false;
    try {
      await local.setOwner(address);
      return true;
    } catch (error) {
      this.log.error({ err: error }, "couldn't set the owner");
      return false;
    }
  }

  async #status(): Promise<DaemonStatus> {
    const { rss, heapUsed } = process.memoryUsage();
    // The status must answer even while the stores are opening, closing or broken.
    const people = await this.#local?.messaging().catch(() => null);
    const disk = await this.#local?.disk().catch(() => null);
    return {
      ...this.#record,
      ...(this.#remote && { hooks_url: this.#remote.hooksUrl }),
      people: people ?? null,
      disk: disk ?? null,
      damage: this.#local?.damage() ?? [],
      replica: this.#remote?.replica() ?? null,
      uptime_seconds: Math.floor(process.uptime()),
      memory: { rss_bytes: rss, heap_used_bytes: heapUsed },
    };
  }
}

function newRecord(socket: string): DaemonRecord {
  return {
    pid: process.pid,
    started_at: isoTime(systemClock().now()),
    instance: randomUUID(),
    version: VERSION,
    base_url: '',
    mcp_url: '',
    hooks_url: '',
    socket,
    project: null,
    mode: 'local',
    gateway: null,
    state: 'starting',
  };
}

/** With the lock held, these files come from a dead daemon, unless a daemon with other data uses the socket. */
async function removeStale(home: Home): Promise<void> {
  const other = await askStatus(home.socketPath);
  if (other) {
    throw new StartRefusal(
      `A daemon with other data uses this socket: pid ${other.pid} at ${other.base_url}.`,
      'held',
    );
  }
  makePrivateFolder(dirname(home.socketPath));
  rmSync(home.socketPath, { force: true });
  rmSync(home.daemonFile, { force: true });
}
