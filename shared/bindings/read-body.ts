import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors.ts';

/**
 * The raw body of a request, refused with PAYLOAD_TOO_LARGE as soon as it is known to be longer than the limit: by its
 * Content-Length before a byte is read, or in passing when that lied or was absent.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      request.off('data', onData);
      request.pause();
      reject(tooLarge(maxBytes));
    };
    request.on('data', onData);
    request.once('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] ?? empty()) : Buffer.concat(chunks)),
    );
    request.once('error', reject);
    request.once('aborted', () => reject(new Error('The sender went away.')));
  });
}

function empty(): Buffer {
  return Buffer.alloc(0);
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', {
    hint: `At most ${maxBytes / 1024 / 1024} MB.`,
    // What is left of the body is not read: the connection cannot serve another request.
    headers: { Connection: 'close' },
  });
}
