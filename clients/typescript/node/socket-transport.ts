import { request } from 'node:http';
import type { Transport } from '../call/transport.ts';

/** Sends to the daemon of this machine, over its socket. */
export function socketTransport(socketPath: string): Transport {
  return ({ path, method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(body);
      const length = bytes && { 'content-length': String(bytes.byteLength) };
      const sent = request(
        {
          socketPath,
          path,
          method,
          headers: { host: 'localhost', ...headers, ...length },
          agent: false,
          signal,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const header = (name: string): string | null => {
              const value = response.headers[name.toLowerCase()];
              return typeof value === 'string' ? value : (value?.join(', ') ?? null);
            };
            const text = Buffer.concat(chunks).toString('utf8');
            resolve({ status: response.statusCode ?? 0, header, text });
          });
        },
      );
      sent.on('error', reject);
      sent.end(bytes);
    });
}
