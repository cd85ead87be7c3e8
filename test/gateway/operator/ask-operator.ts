import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Speaks to the socket of an operator as the command does. */
export async function askOperator(
  socketPath: string,
  method: string,
  path: string,
  body = '',
): Promise<Answered> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ socketPath, method, path, agent: false }, resolve);
    sent.once('error', reject);
    sent.end(body);
  });
  const json = await text(response);
  return { status: response.statusCode ?? 0, body: JSON.parse(json) as Answered['body'] };
}
