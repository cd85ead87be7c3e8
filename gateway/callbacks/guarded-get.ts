import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { CallbackAllow } from './callback-allow.ts';
import { parseCallbackUrl } from './callback-url.ts';
import { guardedLookup, systemResolve, type Resolve } from './guarded-lookup.ts';

export interface GetOptions {
  readonly allow: CallbackAllow;
  readonly maxBytes: number;
  /** From the call to the end of the answer. */
  readonly deadlineMs: number;
  readonly resolve?: Resolve;
  /** What the answer has to be (default: a JSON document). */
  readonly accepts?: RegExp;
  /** Replaces the public authorities; for tests. */
  readonly ca?: string;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/**
 * Reads a small document from a public address, with the checks of callbacks. Follows no redirects. Null for any answer
 * other than one of the wanted type with status 200, and if there is none. CALLBACK_URL_REJECTED.
 */
export async function guardedGet(address: string, options: GetOptions): Promise<string | null> {
  const { allow, deadlineMs, maxBytes, resolve = systemResolve, ca, accepts = JSON_TYPE } = options;
  const target = parseCallbackUrl(address, allow);
  const { url, host } = target;
  const wanted: RequestOptions = {
    hostname: host,
    port: url.port,
    path: url.pathname + url.search,
    headers: { host: url.host, accept: accepts === JSON_TYPE ? 'application/json' : '*/*' },
    agent: false,
    lookup: guardedLookup(target, allow, resolve),
    signal: AbortSignal.timeout(deadlineMs),
  };
  return new Promise((settle) => {
    const onResponse = (response: IncomingMessage): void => {
      void textOf(response, { maxBytes, accepts }).then(settle, () => settle(null));
    };
    const request =
      url.protocol === 'https:'
        ? httpsRequest({ ...wanted, rejectUnauthorized: true, ca }, onResponse)
        : httpRequest(wanted, onResponse);
    request.on('error', () => settle(null)).end();
  });
}

async function textOf(
  response: IncomingMessage,
  { maxBytes, accepts }: Required<Pick<GetOptions, 'maxBytes' | 'accepts'>>,
): Promise<string | null> {
  const { 'content-type': type = '' } = response.headers;
  try {
    if (response.statusCode !== 200 || !accepts.test(type)) return null;
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) return null;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    response.destroy();
  }
}
