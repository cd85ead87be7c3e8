import { request } from 'node:http';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request target and these `Host` headers unchanged, and returns the answer. */
export function askNaming(
  url: string,
  target: string,
  hosts: readonly string[],
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const sent = [...hosts.flatMap((host) => ['Host', host]), ...Object.entries(headers).flat()];
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const call = request(
      { port, host: hostname, path: target, method, headers: sent, setHost: false },
      (answer) => {
        let text = '';
        answer.on('data', (bytes: Buffer) => (text += bytes.toString()));
        answer.on('end', () => {
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        });
      },
    );
    call.on('error', reject);
    call.end();
  });
}
