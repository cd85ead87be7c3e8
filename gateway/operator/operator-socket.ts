import { chmodSync, rmSync, statSync } from 'node:fs';
import type { Logger } from 'pino';
import { operatorSocketPath, SOCKET_PATH_MAX_BYTES } from '../../shared/host/gateway-data.ts';
import { HttpServer } from '../../shared/http/http-server.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import type { OperatorService } from './operator-service.ts';
import { operatorRoutes } from './operator-routes.ts';

interface SocketOptions {
  readonly dataFolder: string;
  readonly approvals: OperatorService;
  readonly log: Logger;
}

/**
 * Takes the operator's orders to a running gateway: HTTP on the socket `operator.sock` in its data folder. It needs no
 * token, because anyone who may open the socket may also read the data. Open it only with the folder's lock held.
 */
export class OperatorSocket {
  readonly #http: HttpServer;

  private constructor(http: HttpServer) {
    this.#http = http;
  }

  /** Null, with a warning, if it can't be opened: a gateway works without it. */
  static async open(options: SocketOptions): Promise<OperatorSocket | null> {
    const { dataFolder, log } = options;
    const path = operatorSocketPath(dataFolder);
    const bytes = Buffer.byteLength(path);
    // The system cuts off or refuses longer paths.
    if (bytes > SOCKET_PATH_MAX_BYTES) {
      const limit = `${bytes} bytes, ${SOCKET_PATH_MAX_BYTES} at most`;
      log.warn(
        `SVC_DATA: the path of ${path} is too long for a socket (${limit}), so \`svc gateway project\` can't reach this gateway. Give the folder a shorter path, such as a symbolic link.`,
      );
      return null;
    }
    try {
      return new OperatorSocket(await listenAt(path, options));
    } catch (error) {
      const code = errorCode(error);
      if (code === null) throw error;
      log.warn(
        `${path} can't be created (${code}), so \`svc gateway project\` can't reach this gateway.`,
      );
      return null;
    }
  }

  /** Accepts no more orders and removes the socket. Unanswered orders are cut off. */
  close(withinMs: number): Promise<void> {
    return this.#http.close(withinMs);
  }
}

async function listenAt(path: string, { approvals, log }: SocketOptions): Promise<HttpServer> {
  // A killed process left it; nobody else uses the folder now.
  if (statSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path, { force: true });
  const http = await HttpServer.listen({ path }, () => operatorRoutes({ approvals, log }));
  chmodSync(path, 0o600);
  return http;
}
