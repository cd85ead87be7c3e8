import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { operatorSocketPath } from '../../shared/host/gateway-data.ts';
import { errorCode, isObject, parseObject } from '../../shared/lib/guards.ts';
import { AdminError } from './admin-error.ts';

/** Longer than a gateway waits for its sends under way. */
const SILENCE_MS = 60_000;
const NOBODY: readonly string[] = ['ENOENT', 'ECONNREFUSED'];

/** The gateway refused an order, so nothing changed. */
export class OrderError extends AdminError {
  constructor(message: string) {
    super(message);
    this.name = 'OrderError';
  }
}

/**
 * Sends an order to the gateway that uses a data folder. Throws an `OrderError` if it refuses, and an `AdminError` if
 * nobody answers; then the order may have been carried out, unless nobody listens on the socket.
 */
export async function order(dataFolder: string, path: string, body: unknown = {}): Promise<void> {
  const socketPath = operatorSocketPath(dataFolder);
  const { status, told } = await send(socketPath, path, JSON.stringify(body)).catch(
    (error: unknown) => {
      throw failure(error, dataFolder);
    },
  );
  if (status >= 200 && status <= 299) return;
  const error = parseObject(told)?.['error'];
  const { message, hint } = isObject(error) ? error : {};
  const said = [message, hint].filter((part) => typeof part === 'string');
  throw new OrderError(`The gateway refused it (${status}). ${said.join(' ')}`.trim());
}

async function send(socketPath: string, path: string, body: string) {
  const response = await new Promise<IncomingMessage>((done, fail) => {
    const headers = {
      host: 'localhost',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const options = { socketPath, method: 'POST', path, headers, timeout: SILENCE_MS };
    const sent = request({ ...options, agent: false }, done);
    sent.on('timeout', () => sent.destroy(new Error('No answer.')));
    sent.on('error', fail);
    sent.end(body);
  });
  return { status: response.statusCode ?? 0, told: await text(response) };
}

function failure(error: unknown, dataFolder: string): AdminError {
  const code = errorCode(error) ?? '';
  if (NOBODY.includes(code)) {
    return new AdminError(
      `Another process is using the data in ${dataFolder} and has no operator.sock there, so this command can't reach it. Stop it first.`,
      { cause: error },
    );
  }
  const reason = code || String(error);
  return new AdminError(
    `The gateway over ${dataFolder} did not answer (${reason}). Check the state now: svc gateway project list`,
    { cause: error },
  );
}
