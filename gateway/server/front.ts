import { getRequestListener } from '@hono/node-server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Admission } from '../../shared/admission/admission.ts';
import { AdmittedRequest } from '../../shared/admission/admitted-request.ts';
import { Entrance } from '../../shared/admission/entrance.ts';
import {
  setVisit,
  unroutable,
  visitOf,
  type HttpEnv,
  type RequestInfo,
} from '../../shared/api/http.ts';
import { ServiceError, unavailable } from '../../shared/lib/errors.ts';
import { answerError } from '../../shared/http/answers.ts';
import type { CutOff, Handler } from '../../shared/http/http-server.ts';
import type { AddressRanges } from '../lib/address-ranges.ts';
import type { ContentHost } from '../http/links/content-host.ts';
import {
  addressBehind,
  directNetwork,
  isDirectFromHere,
  networkOf,
  untrustedForwarder,
} from '../lib/client-address.ts';
import type { PrometheusMetrics } from './metrics.ts';
import type { Probes } from './probes.ts';
import { NO_ROUTE, RouteTable } from './route-table.ts';
import { namedProject, pathOf, shownPath } from './shown-path.ts';

interface FrontDeps {
  readonly kind: 'tcp' | 'unix';
  /** Whether clients use https, to a proxy in front. */
  readonly isSecure: boolean;
  readonly trusted: AddressRanges;
  /** The host for strangers' content only; null if that content has no separate host. */
  readonly content: ContentHost | null;
  readonly probes: Probes;
  readonly admission: Admission;
  readonly metrics: PrometheusMetrics;
  readonly log: Logger;
}

/** The client left before its answer started. Only the log and the metrics use this status, which comes from nginx. */
const CLIENT_LEFT = 499;
/** It was told so on its connection, not by a handler. */
const TOO_SLOW = 408;

/** Browsers that called once use https for a year. We don't include subdomains, because they aren't ours. */
const COME_BY_TLS = 'max-age=31536000';

/** Requests that start or end a session, or create a key: the log shows them even if they succeed. */
const SIGNS_IN =
  /^\/+(?:v1\/auth\/|v1\/projects|v1\/ui\/links|s\/|oauth\/|ui\/(?:authorize|join|open|sign-in|sign-out|p\/[^/]+\/sessions)(?:\/|$))/;

/** Refusals that are part of normal use: a poll for an unconfirmed sign-in, and frames past the end of a log. */
const EXPECTED: ReadonlyMap<string, number> = new Map([
  ['/v1/auth/poll', 409],
  ['/v1/replica/{epoch}/sync/{generation}/{from}/{to}', 400],
]);

/** Handles every request: first the probes, then the gateway once it is open, then the log and the counters. */
export class Front {
  readonly #deps: FrontDeps;
  readonly #entrance: Entrance;
  #serve: ReturnType<typeof getRequestListener> | null = null;
  #routes = new RouteTable([]);
  #hasWarnedOfProxy = false;

  constructor(deps: FrontDeps) {
    this.#deps = deps;
    this.#entrance = new Entrance(deps.admission);
  }

  /** Lets the gateway answer requests from now on. */
  open(app: Hono<HttpEnv>): void {
    this.#routes = new RouteTable(app.routes.map(({ path }) => path));
    this.#serve = getRequestListener(
      (request, env) =>
        app.fetch(request, { ...env, visit: visitOf(env.incoming as IncomingMessage) }),
      { errorHandler: unroutable },
    );
  }

  readonly handle: Handler = (request, response) => {
    const { isSecure, kind, trusted, content, probes } = this.#deps;
    if (isSecure) response.setHeader('Strict-Transport-Security', COME_BY_TLS);
    const path = pathOf(request.url ?? '/');
    const clientAddress = addressBehind(request, { kind, trusted });
    const address = networkOf(clientAddress);
    if (probes.has(path) && (content?.askedBy(request) ?? 'other') === 'other') {
      this.#probe(path, { request, response, address });
      return;
    }
    this.#warnOfProxy(request);
    const started = performance.now();
    const { admitted, refusal } = this.#admit(address, { request, response });
    const visit: RequestInfo = { clientAddress, admitted, requestId: null, delivery: null };
    setVisit(request, visit);
    response.on('close', () => {
      this.#ended({
        request,
        response,
        visit,
        path,
        seconds: (performance.now() - started) / 1000,
      });
    });
    const crowded =
      refusal ??
      this.#entrance.enter({ request, response, address, admitted }, () => {
        if (this.#serve) void this.#serve(request, response);
        else answerError(response, unavailable(1));
      });
    if (crowded) answerError(response, crowded);
  };

  #probe(
    path: string,
    {
      request,
      response,
      address,
    }: Pick<FinishedRequest, 'request' | 'response'> & { address: string },
  ): void {
    const { probes, kind, admission } = this.#deps;
    const admitted = new AdmittedRequest(admission, address);
    const isDirect = isDirectFromHere(request, kind);
    const crowded = this.#entrance.enter({ request, response, address, admitted }, () => {
      probes.answer(path, { request, response, isDirect }).catch(() => response.destroy());
    });
    if (crowded) answerError(response, crowded);
  }

  #admit(
    network: string,
    { request, response }: Pick<FinishedRequest, 'request' | 'response'>,
  ): { admitted: AdmittedRequest; refusal: ServiceError | null } {
    const { admission } = this.#deps;
    const counted = admission.connections.requested(request.socket, network, response);
    return counted instanceof ServiceError
      ? { admitted: new AdmittedRequest(admission, network), refusal: counted }
      : { admitted: new AdmittedRequest(admission, network, counted), refusal: null };
  }

  /** Counts a new connection. */
  readonly connected = (socket: Socket): void => {
    this.#deps.admission.connections.opened(socket, directNetwork(socket, this.#deps));
  };

  /** Counts a body that came too slowly. */
  readonly tooSlow = (request: IncomingMessage): void => {
    visitOf(request)?.admitted.tooSlow();
  };

  /** Counts a connection that was closed although it had no answer. */
  readonly cutOff = (why: CutOff, socket: Socket | null): void => {
    const address = socket && directNetwork(socket, this.#deps);
    this.#deps.admission.cutOff(CUT_OFF[why], address);
  };

  /** Warns once: behind a proxy that isn't trusted, all clients share one address and its limits. */
  #warnOfProxy(request: IncomingMessage): void {
    if (this.#hasWarnedOfProxy) return;
    const peer = untrustedForwarder(request, this.#deps);
    if (peer === null) return;
    this.#hasWarnedOfProxy = true;
    this.#deps.log.warn(
      { peer },
      `${peer} sends X-Forwarded-For but isn't in SVC_TRUSTED_PROXIES. If it is your proxy, add it: until then all its clients share the limits of one address.`,
    );
  }

  #ended({ request, response, visit, path, seconds }: FinishedRequest): void {
    const { metrics, log } = this.#deps;
    const { method = '' } = request;
    const untold = visit.admitted.isSlow ? TOO_SLOW : CLIENT_LEFT;
    const status = response.headersSent ? response.statusCode : untold;
    const route = this.#routes.of(path);
    const isExpected = EXPECTED.get(route) === status;
    const { delivery } = visit;
    metrics.answered({ method, route, status, isExpected, seconds, delivery });
    const signsIn = method === 'POST' && SIGNS_IN.test(path);
    const level = isExpected ? 'debug' : levelOf(status, { route, signsIn });
    if (!log.isLevelEnabled(level)) return;
    // A request without a valid key, or for an unknown address, proves no project.
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

/** Where this is counted. */
const CUT_OFF: Readonly<Record<CutOff, Parameters<Admission['cutOff']>[0]>> = {
  'too many': { at: 'connection', reason: 'gateway' },
  'too much': { at: 'bytes to parse', reason: 'gateway' },
  'too slow': { at: 'connection', reason: 'slow' },
};

interface FinishedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly visit: RequestInfo;
  readonly path: string;
  readonly seconds: number;
}

/** An operator wants to see failures, but strangers who probe unknown addresses would fill the log. */
function levelOf(
  status: number,
  { route, signsIn }: { route: string; signsIn: boolean },
): 'warn' | 'info' | 'debug' {
  if (status >= 500) return 'warn';
  if (signsIn) return 'info';
  return status >= 400 && status !== CLIENT_LEFT && route !== NO_ROUTE ? 'info' : 'debug';
}
