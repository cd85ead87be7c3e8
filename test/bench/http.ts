import { request, type Agent } from 'node:http';

interface Request {
  readonly agent: Agent;
  /** The server's socket, in place of the address's host. */
  readonly socketPath?: string | undefined;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request over `node:http`, which costs its own process less than `fetch`. */
export function call(
  url: string,
  { agent, socketPath, method = 'GET', headers, body }: Request,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { agent, socketPath, method, headers: { ...headers, ...length } };
    const sent = request(url, options, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The JSON of a success. */
export function json({ status, text }: Answer): unknown {
  if (status < 200 || status > 299) throw new Error(`Status ${status}: ${text}`);
  const value: unknown = JSON.parse(text);
  return value;
}
