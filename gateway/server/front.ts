import { getRequestListener } from '@hono/node-server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import { unroutable, type HttpEnv, type RequestInfo } from '../../shared/api/http.ts';
import { unavailable } from '../../shared/lib/errors.ts';
import { answerError } from '../../shared/http/answers.ts';
import type { Handler } from '../../shared/http/http-server.ts';
import type { AddressRanges } from '../lib/address-ranges.ts';
import type { ContentHost } from '../http/links/content-host.ts';
import { addressBehind, isDirectFromHere } from '../lib/client-address.ts';
import type { PrometheusMetrics } from './metrics.ts';
import type { Probes } from './probes.ts';
import { NO_ROUTE, RouteTable } from './route-table.ts';
import { namedProject, pathOf, shownPath } from './shown-path.ts';

interface FrontDeps {
  readonly kind: 'tcp' | 'unix';
  /** Whether it is called by https, at a proxy in front of it. */
  readonly isSecure: boolean;
  readonly trusted: AddressRanges;
  /** Where nothing is but what strangers wrote; null where they have no host of their own. */
  readonly content: ContentHost | null;
  readonly probes: Probes;
  readonly metrics: PrometheusMetrics;
  readonly log: Logger;
}

/** The client left before its answer began. Only the log and the metrics know this status, which nginx made up. */
const CLIENT_LEFT = 499;

/** Browsers that were here once come by https for a year. Other hosts of the domain are not ours to speak for. */
const COME_BY_TLS = 'max-age=31536000';

/** What begins and ends a session, and what gives a key: the log has it also where it goes well. */
const SIGNS_IN =
  /^\/+(?:v1\/auth\/|v1\/projects|v1\/ui\/links|s\/|ui\/(?:open|sign-in|sign-out|p\/[^/]+\/sessions)(?:\/|$))/;

/** Refusals that callers meet as they should: asking for a sign-in not yet confirmed, and for frames past the end of a log. */
const EXPECTED: ReadonlyMap<string, number> = new Map([
  ['/v1/auth/poll', 409],
  ['/v1/replica/{epoch}/sync/{generation}/{from}/{to}', 400],
]);

/** What every request passes: the probes, the gateway once it is open, and then the log and the counters. */
export class Front {
  readonly #deps: FrontDeps;
  readonly #visits = new WeakMap<object, RequestInfo>();
  #serve: ReturnType<typeof getRequestListener> | null = null;
  #routes = new RouteTable([]);

  constructor(deps: FrontDeps) {
    this.#deps = deps;
  }

  /** From here on requests are answered by the gateway. */
  open(app: Hono<HttpEnv>): void {
    this.#routes = new RouteTable(app.routes.map(({ path }) => path));
    this.#serve = getRequestListener(
      (request, env) => app.fetch(request, { ...env, visit: this.#visits.get(env.incoming) }),
      { errorHandler: unroutable },
    );
  }

  readonly handle: Handler = (request, response) => {
    const { isSecure, kind, trusted, content, probes } = this.#deps;
    if (isSecure) response.setHeader('Strict-Transport-Security', COME_BY_TLS);
    const path = pathOf(request.url ?? '/');
    if (probes.has(path) && (content?.askedBy(request) ?? 'other') === 'other') {
      const isDirect = isDirectFromHere(request, kind);
      probes.answer(path, { request, response, isDirect }).catch(() => response.destroy());
      return;
    }
    const started = performance.now();
    const clientAddress = addressBehind(request, { kind, trusted });
    const visit: RequestInfo = { clientAddress, requestId: null, delivery: null };
    this.#visits.set(request, visit);
    response.once('close', () => {
      this.#ended({
        request,
        response,
        visit,
        path,
        seconds: (performance.now() - started) / 1000,
      });
    });
    if (this.#serve) void this.#serve(request, response);
    else answerError(response, unavailable(1));
  };

  #ended({ request, response, visit, path, seconds }: Ended): void {
    const { metrics, log } = this.#deps;
    const { method = '' } = request;
    const status = response.headersSent ? response.statusCode : CLIENT_LEFT;
    const route = this.#routes.of(path);
    const isExpected = EXPECTED.get(route) === status;
    const { delivery } = visit;
    metrics.answered({ method, route, status, isExpected, seconds, delivery });
    const signsIn = method === 'POST' && SIGNS_IN.test(path);
    const level = isExpected ? 'debug' : levelOf(status, { route, signsIn });
    if (!log.isLevelEnabled(level)) return;
    // What was refused for want of a key, or was found nowhere, belongs to no project.
    const isKnown = status !== 401 && status !== 404;
    const project = isKnown ? namedProject(path, request.headers.authorization) : null;
    log[level](
      {
        method: method.slice(0, 16),
        path: shownPath(path),
        status,
        ms: Math.round(seconds * 10_000) / 10,
        request_id: visit.requestId,
        ...(project !== null && { project }),
        client: visit.clientAddress,
      },
      'request',
    );
  }
}

interface Ended {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly visit: RequestInfo;
  readonly path: string;
  readonly seconds: number;
}

/** An operator wants to see what fails. Strangers who try addresses that there are not would fill the log. */
function levelOf(
  status: number,
  { route, signsIn }: { route: string; signsIn: boolean },
): 'warn' | 'info' | 'debug' {
  if (status >= 500) return 'warn';
  if (signsIn) return 'info';
  return status >= 400 && status !== CLIENT_LEFT && route !== NO_ROUTE ? 'info' : 'debug';
}
