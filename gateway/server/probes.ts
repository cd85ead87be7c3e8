import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { methodNotAllowed } from '../../shared/api/http.ts';
import { ServiceError } from '../../shared/lib/errors.ts';
import { answerError, answerJson } from '../../shared/http/answers.ts';
import { SAFE_HEADERS } from '../../shared/http/safe-headers.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';
import { VERSION } from '../../shared/lib/version.ts';
import type { BotHealth } from '../compose-messaging.ts';
import type { DiskStatus } from '../projects/limits/disk-space.ts';
import type { DiskProbe } from './disk-probe.ts';
import type { PrometheusMetrics } from './metrics.ts';

/** The state of the process. */
export type Phase = 'opening' | 'open' | 'closing';

interface ProbesDeps {
  readonly phase: () => Phase;
  readonly disk: DiskProbe;
  /** How much room the disk has; null until the stores are open. */
  readonly room?: () => Promise<DiskStatus> | null;
  /** How many objects in the data folder are known to be damaged. */
  readonly damaged?: () => number;
  /** Whether the database server has been silent for seconds; null without one. */
  readonly isServerSilent: () => boolean | null;
  /** Null without a Telegram bot. */
  readonly telegram: () => BotHealth | null;
  readonly metrics: PrometheusMetrics;
  /** Lets its holder read the metrics from anywhere; null: only this machine may. */
  readonly metricsToken: string | null;
}

/** Answers `/healthz`, `/readyz` and `/metrics` for a supervisor, a load balancer and Prometheus. */
export class Probes {
  readonly #deps: ProbesDeps;

  constructor(deps: ProbesDeps) {
    this.#deps = deps;
  }

  /** Whether the path is a probe. */
  has(path: string): boolean {
    return path === '/healthz' || path === '/readyz' || path === '/metrics';
  }

  /** `isDirect`: the request comes from this machine, without a proxy. */
  async answer(path: string, { request, response, isDirect }: Exchange): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return answerError(response, methodNotAllowed(['GET', 'HEAD']));
    }
    if (path === '/healthz') return answerJson(response, 200, { status: 'ok', version: VERSION });
    if (path === '/readyz') return this.#ready(response);
    if (!isDirect && !this.#mayRead(request))
      return answerError(response, new ServiceError('NOT_FOUND'));
    const text = await this.#deps.metrics.text();
    response.writeHead(200, {
      'Content-Type': this.#deps.metrics.contentType,
      'Cache-Control': 'no-store',
      ...SAFE_HEADERS,
    });
    response.end(text);
  }

  async #ready(response: ServerResponse): Promise<void> {
    const phase = this.#deps.phase();
    const disk = await this.#deps.disk.check();
    const isSilent = this.#deps.isServerSilent();
    const isReady = phase === 'open' && disk === null && isSilent !== true;
    const checks = {
      stores: phase,
      disk: disk === null ? 'writable' : `not writable: ${disk}`,
      ...(await this.#notes()),
      ...(isSilent !== null && { database_server: isSilent ? 'silent' : 'answers' }),
    };
    answerJson(
      response,
      isReady ? 200 : 503,
      { status: isReady ? 'ready' : 'not_ready', checks },
      isReady ? {} : { 'Retry-After': '5' },
    );
  }

  /** What doesn't keep it from being ready: it does everything else. */
  async #notes(): Promise<Readonly<Record<string, string>>> {
    const room = (await this.#deps.room?.()) ?? null;
    const telegram = this.#deps.telegram();
    const damaged = this.#deps.damaged?.() ?? 0;
    return {
      ...(room && room.level !== 'ok' && { disk_room: ROOM[room.level] }),
      ...(damaged > 0 && { damage: `${pluralize(damaged, 'object')}: see svc gateway check` }),
      ...(telegram && { telegram: telegram.trouble ?? 'connected' }),
    };
  }

  #mayRead({ headers }: IncomingMessage): boolean {
    const { metricsToken } = this.#deps;
    const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (metricsToken === null || given === undefined) return false;
    // Compare digests, because timingSafeEqual needs equal lengths.
    return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', metricsToken, 'buffer'));
  }
}

const ROOM = {
  low: 'low: the largest project takes nothing in',
  full: 'full: no project takes in large bodies',
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly isDirect: boolean;
}
