import { chmodSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import type { Logger } from 'pino';
import { Admission } from '../../shared/admission/admission.ts';
import { CONNECTION_LIMITS } from '../../shared/admission/limits.ts';
import type { ReceiveLimits } from '../../shared/http/deadlines.ts';
import { HttpServer, KEEP_ALIVE_MS } from '../../shared/http/http-server.ts';
import { portOwner } from '../../shared/host/processes.ts';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import type { Lock } from '../../shared/store/engine/lock.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { VERSION } from '../../shared/lib/version.ts';
import { Gateway } from '../gateway.ts';
import { ContentHost } from '../http/links/content-host.ts';
import { OperatorSocket } from '../operator/operator-socket.ts';
import type { ServerConfig } from './config.ts';
import { claimDataFolder } from '../lib/data-folder.ts';
import { DiskProbe } from './disk-probe.ts';
import { Front } from './front.ts';
import { listenText, type ListenAddress } from './listen-address.ts';
import { PrometheusMetrics } from './metrics.ts';
import { Probes, type Phase } from './probes.ts';
import { RefusalLog } from './refusal-log.ts';

interface ServerOptions {
  readonly config: ServerConfig;
  readonly log: Logger;
  /** The disk failed, so this process must end. */
  readonly onFatal: () => void;
}

/** The addresses and identity of the process. */
export interface ServerStatus {
  readonly base_url: string;
  readonly mcp_url: string;
  readonly hooks_url: string;
  /** The address that it is bound to. */
  readonly listen: string;
  readonly data: string;
  readonly version: string;
  readonly pid: number;
}

/** How long running answers may take after the process starts to end. */
const FINISH_MS = 2500;
/** More than `Connections` lets in, because those that it closes count until they are closed. */
const CONNECTIONS_MAX = CONNECTION_LIMITS.total + 2048;
/** A body of at least 1 KB/s, seen over five seconds. */
export const RECEIVE_LIMITS: ReceiveLimits = {
  headersMs: 10_000,
  bodyMs: 30_000,
  keepAliveMs: KEEP_ALIVE_MS,
  lowestRate: { bytes: 5 * 1024, everyMs: 5000 },
};
const VACANT =
  'Nobody has an account yet. The first person to sign in gets one; everyone else needs an invitation: svc gateway invite EMAIL';

/** The hosted process: its data folder, a listener, and the gateway behind it. */
export class GatewayServer {
  readonly #options: ServerOptions;
  readonly #lock: Lock;
  readonly #metrics = new PrometheusMetrics();
  readonly #admission: Admission;
  readonly #front: Front;
  #phase: Phase = 'opening';
  #http: HttpServer | null = null;
  #gateway: Gateway | null = null;
  #operator: OperatorSocket | null = null;
  #stopped: Promise<void> | null = null;

  private constructor(options: ServerOptions, lock: Lock) {
    const { config, log } = options;
    this.#options = options;
    this.#lock = lock;
    const metrics = this.#metrics;
    const refusals = new RefusalLog(log);
    this.#admission = Admission.hosted((turnedAway) => {
      metrics.turnedAway(turnedAway);
      refusals.note(turnedAway);
    });
    metrics.gaugeAdmission(this.#admission);
    const probes = new Probes({
      phase: () => this.#phase,
      disk: new DiskProbe(config.dataFolder),
      room: () => this.#gateway?.diskStatus() ?? null,
      damaged: () => this.#gateway?.damage.length ?? 0,
      isServerSilent: () => this.#gateway?.isServerSilent ?? null,
      telegram: () => this.#gateway?.telegram ?? null,
      metrics,
      metricsToken: config.metricsToken,
    });
    const { listen, publicUrl, contentUrl, trustedProxies: trusted } = config;
    const isSecure = publicUrl?.startsWith('https://') ?? false;
    const content = contentUrl === null ? null : new ContentHost(contentUrl);
    const from = { kind: listen.kind, isSecure, trusted, content };
    this.#front = new Front({ ...from, admission: this.#admission, probes, metrics, log });
  }

  /** Resolves once it answers requests. Throws a `StartRefusal` if a person must do something first. */
  static async start(options: ServerOptions): Promise<GatewayServer> {
    const { dataFolder, masterKeyFile } = options.config;
    const server = new GatewayServer(options, claimDataFolder(dataFolder, masterKeyFile));
    try {
      await server.#open();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get status(): ServerStatus {
    const { config } = this.#options;
    const listen = listenText(config.listen, this.#http?.port ?? 0);
    const base = config.publicUrl ?? listen;
    return {
      base_url: base,
      mcp_url: `${base}/mcp`,
      hooks_url: config.hooksUrl ?? base,
      listen,
      data: config.dataFolder,
      version: VERSION,
      pid: process.pid,
    };
  }

  /** What the operator should know about the data, a sentence each. */
  async remarks(): Promise<string[]> {
    return (await this.#gateway?.isVacant()) === true ? [VACANT] : [];
  }

  /** Accepts no new requests, ends waits and streams, finishes running answers, and closes the stores. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const wasOpen = this.#phase === 'open';
    this.#phase = 'closing';
    if (wasOpen) this.#options.log.info('ending');
    const closing = Promise.all([this.#http?.close(FINISH_MS), this.#operator?.close(FINISH_MS)]);
    await this.#gateway?.endWaits();
    await closing;
    await this.#gateway?.close();
    this.#lock.release();
    if (wasOpen) this.#options.log.info('ended');
  }

  async #open(): Promise<void> {
    const { config, log, onFatal } = this.#options;
    const { settings, store, dataFolder, masterKeyFile, contentUrl } = config;
    const { ratePerMinute, openProjectsMax, signUp, mailLimits } = config;
    // Listen before opening the stores: that finds a taken port at once, and the public address may depend on the
    // port.
    this.#http = await listenOn(config.listen, this.#front);
    const { base_url: api, mcp_url: mcp, hooks_url: hooks } = this.status;
    this.#gateway = await Gateway.open({
      dataFolder,
      urls: { api, mcp, hooks },
      ratePerMinute,
      openProjectsMax,
      signIn: true,
      scrubs: true,
      signUp,
      admission: this.#admission,
      mailLimits,
      ...settings,
      ...(contentUrl !== null && { contentUrl }),
      ...(masterKeyFile !== null && { masterKeyFile }),
      ...(store !== null && { store }),
      log,
      metrics: this.#metrics,
      onFatal: (error) => {
        log.fatal({ err: error }, "the gateway can't rely on its data any more");
        onFatal();
      },
    });
    const gateway = this.#gateway;
    this.#metrics.gauge(() => gateway.gauges);
    this.#front.open(gateway.app);
    this.#operator = await OperatorSocket.open({ dataFolder, approvals: gateway.operator, log });
    if (this.#phase === 'opening') this.#phase = 'open';
  }
}

async function listenOn(address: ListenAddress, front: Front): Promise<HttpServer> {
  if (address.kind === 'unix') await removeStale(address.path);
  const where = address.kind === 'unix' ? { path: address.path } : address;
  const options = {
    limits: RECEIVE_LIMITS,
    connectionsMax: CONNECTIONS_MAX,
    onConnection: front.connected,
    onSlowBody: front.tooSlow,
    onCutOff: front.cutOff,
  };
  try {
    const server = await HttpServer.listen(where, () => front.handle, options);
    // The proxy in front runs as another user, who shares a group with this one.
    if (address.kind === 'unix') chmodSync(address.path, 0o660);
    return server;
  } catch (error) {
    throw refusedAddress(address, error);
  }
}

function refusedAddress(address: ListenAddress, error: unknown): unknown {
  const code = errorCode(error);
  if (code === null) return error;
  const where = address.kind === 'unix' ? address.path : `port ${address.port}`;
  if (code !== 'EADDRINUSE' || address.kind === 'unix') {
    return new StartRefusal(`SVC_LISTEN: can't listen on ${where} (${code}).`, 'port');
  }
  const owner = portOwner(address.port) ?? 'another process';
  return new StartRefusal(
    `SVC_LISTEN: ${where} is taken by ${owner}. Free it, or choose another one.`,
    'port',
  );
}

/** A dead process leaves its socket file behind. If a process answers on it, the file isn't stale. */
async function removeStale(path: string): Promise<void> {
  if (!statSync(path, { throwIfNoEntry: false })?.isSocket()) return;
  const isUsed = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
  if (isUsed) throw new StartRefusal(`SVC_LISTEN: another process answers on ${path}.`, 'port');
  rmSync(path, { force: true });
}
