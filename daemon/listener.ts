import { getRequestListener } from '@hono/node-server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../shared/admission/admission.ts';
import { AdmittedRequest } from '../shared/admission/admitted-request.ts';
import { Entrance } from '../shared/admission/entrance.ts';
import { setVisit, unroutable, visitOf, type HttpEnv } from '../shared/api/http.ts';
import { ServiceError, unavailable } from '../shared/lib/errors.ts';
import { answerError } from '../shared/http/answers.ts';
import type { ReceiveLimits } from '../shared/http/deadlines.ts';
import { HttpServer, type Handler } from '../shared/http/http-server.ts';
import { refusal, type Access } from './guard.ts';

type Fetch = (request: Request, env: HttpEnv['Bindings']) => Response | Promise<Response>;

/** Answers the requests of the listeners. */
export interface Backend {
  /** Null until the stores are open. */
  fetch: Fetch | null;
  /** What the daemon takes on at once. */
  readonly admission: Admission;
  /** Serves the daemon's own routes, on the socket only; true if it took the request. */
  readonly control: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** One HTTP server of the daemon. */
export type Listener = HttpServer;

/** The daemon's two listeners, its socket and loopback. The guard checks both. */
export const Listener = {
  onSocket(path: string, backend: Backend): Promise<HttpServer> {
    return HttpServer.listen({ path }, () => handler(backend, { kind: 'socket' }));
  },

  /** Port 0 takes a free port. */
  onLoopback(port: number, backend: Backend, limits?: ReceiveLimits): Promise<HttpServer> {
    return HttpServer.listen(
      { host: '127.0.0.1', port },
      (taken) => handler(backend, { kind: 'tcp', port: taken }),
      { ...(limits && { limits }) },
    );
  },
};

function handler(backend: Backend, access: Access): Handler {
  const { admission } = backend;
  const entrance = new Entrance(admission);
  let serve: ReturnType<typeof getRequestListener> | null = null;
  const begin = (
    fetch: Fetch,
    { request, response }: { request: IncomingMessage; response: ServerResponse },
  ): void => {
    serve ??= getRequestListener(
      (asked, env) => {
        const { incoming, outgoing } = env as HttpEnv['Bindings'];
        const visit = visitOf(incoming);
        return fetch(asked, { incoming, outgoing, ...(visit && { visit }) });
      },
      { errorHandler: unroutable },
    );
    void serve(request, response);
  };
  return (request, response) => {
    const refused = refusal({ url: request.url ?? '/', headers: request.headers }, access);
    if (refused) return answerRefusal(response, refused.header, refused.reason);
    if (access.kind === 'socket' && backend.control(request, response)) return;
    const address = request.socket.remoteAddress ?? 'socket';
    const admitted = new AdmittedRequest(admission);
    setVisit(request, { clientAddress: address, admitted, requestId: null, delivery: null });
    const crowded = entrance.enter({ request, response, address, admitted }, () => {
      if (backend.fetch) begin(backend.fetch, { request, response });
      else answerError(response, unavailable(1));
    });
    if (crowded) answerError(response, crowded);
  };
}

/** Our error table has no code for foreign web pages: VALIDATION_FAILED, with 403 to say that no change helps. */
function answerRefusal(response: ServerResponse, header: string, reason: string): void {
  const error = new ServiceError('VALIDATION_FAILED', {
    hint: reason,
    details: { fields: [{ path: header, message: reason }] },
  });
  answerError(response, error, 403);
}
