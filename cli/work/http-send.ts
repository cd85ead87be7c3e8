import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { deadline } from '../../shared/lib/deadline.ts';

const ANSWER_MAX_BYTES = 64 * 1024;

export interface HttpResult {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The start of the answer's body. */
  readonly body: string;
  readonly durationMs: number;
}

/** POSTs bytes to an http or https address without following redirects. Rejects if there's no answer. */
export function postBytes(
  url: URL,
  message: {
    readonly headers: OutgoingHttpHeaders;
    readonly body: Uint8Array;
    readonly timeoutMs: number;
    readonly signal?: AbortSignal;
  },
): Promise<HttpResult> {
  const started = performance.now();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // One deadline for the whole exchange, so that a trickling answer can't hold up the next event.
  const late = deadline(message.timeoutMs);
  const signal = message.signal ? AbortSignal.any([message.signal, late]) : late;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      reject(late.aborted ? new Error(`No answer within ${message.timeoutMs / 1000} s.`) : error);
    };
    const headers = { ...message.headers, 'content-length': message.body.byteLength };
    const request = send(url, { method: 'POST', headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        if (bytes < ANSWER_MAX_BYTES) chunks.push(chunk);
        bytes += chunk.length;
      });
      response.on('error', fail);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).subarray(0, ANSWER_MAX_BYTES).toString('utf8'),
          durationMs: Math.round(performance.now() - started),
        });
      });
    });
    request.on('error', fail);
    request.end(message.body);
  });
}

/** GETs at most `maxBytes` from an http or https address; rejects for any status but 200. */
export function getBytes(url: URL, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, { signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes)
          request.destroy(new Error(`The body is larger than ${maxBytes} bytes.`));
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks));
        else reject(new Error(`The payload link answered ${response.statusCode ?? 0}.`));
      });
    });
    request.on('error', reject);
    request.end();
  });
}
