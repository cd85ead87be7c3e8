import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { errorCode, parseObject } from '../../shared/lib/guards.ts';
import { answeredFailure } from '../../clients/typescript/core/errors.ts';
import { badAnswer, CallError, CliError } from '../errors.ts';
import { isSendable } from '../call/header.ts';
import { transferBroken } from './faults.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

// Upload and download links need no key and may lead to any object store, so these don't use `Client`.

/** How long the other side may be silent. */
const SILENCE_MS = 60_000;
/** How much of an error answer svc reads. */
const ANSWER_MAX_BYTES = 64 * 1024;

type Direction = 'upload' | 'download';

interface Upload {
  readonly url: string;
  /** The signature covers exactly these. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** PUTs bytes to an upload link. */
export async function uploadTo({ url, headers, sizeBytes, chunks, signal }: Upload): Promise<void> {
  for (const [name, value] of Object.entries(headers)) {
    if (!isSendable(name, value)) throw badAnswer("An upload header isn't valid.");
  }
  const request = open('upload', url, {
    method: 'PUT',
    headers: withLength(headers, sizeBytes),
    signal,
  });
  const answered = responseOf(request);
  const sent = pump(request, chunks);
  try {
    // A server may refuse before it has read everything.
    const response = await Promise.race([answered, sent.then(() => answered)]);
    const status = response.statusCode ?? 0;
    const body = await beginning(response);
    if (status < 200 || status >= 300)
      throw new CallError(answeredFailure(status, parseObject(body)));
    // The last check of the source may find that it changed.
    await sent;
  } catch (error) {
    request.destroy();
    const local = await sent.then(
      () => null,
      (failure: unknown) => failure,
    );
    // A problem with the source explains any error from the network or the server.
    throw local instanceof CliError ? local : brokenBy(error, 'upload', signal);
  } finally {
    request.destroy();
  }
}

/** Without a length the body would be chunked, which object stores refuse. */
function withLength(headers: Upload['headers'], sizeBytes: number): Record<string, string> {
  const isTold = Object.keys(headers).some((name) => name.toLowerCase() === 'content-length');
  return isTold ? { ...headers } : { ...headers, 'content-length': String(sizeBytes) };
}

/** Streams the bytes behind a download link, following at most one redirect to an object store. */
export async function* downloadFrom(url: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let request = open('download', url, { method: 'GET', signal });
  request.end();
  try {
    let response = await responseOf(request);
    const { location } = response.headers;
    const next = location === undefined ? null : parsedUrl(location, url);
    if (response.statusCode === 302 && next) {
      request.destroy();
      request = open('download', next.href, { method: 'GET', signal });
      request.end();
      response = await responseOf(request);
    }
    const status = response.statusCode ?? 0;
    if (status !== 200)
      throw new CallError(answeredFailure(status, parseObject(await beginning(response))));
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw brokenBy(error, 'download', signal);
  } finally {
    request.destroy();
  }
}

function open(direction: Direction, url: string, options: RequestOptions): ClientRequest {
  const target = parsedUrl(url);
  const send = { 'http:': httpRequest, 'https:': httpsRequest }[target?.protocol ?? ''];
  if (!target || !send) throw badAnswer(`The ${direction} link isn't an http or https address.`);
  const request = send(target, { ...options, agent: false, timeout: SILENCE_MS });
  request.on('timeout', () => {
    request.destroy(transferBroken(direction, `nothing for ${SILENCE_MS / 1000} s`));
  });
  return request;
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays attached, because an error without a listener would end the process.
    request.on('error', reject);
    request.once('close', () => reject(new Error('The connection was closed.')));
  });
}

/** Sends as fast as the server reads; stops early if the request was destroyed. */
async function pump(request: ClientRequest, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (request.destroyed) return;
      if (!request.write(chunk)) await room(request);
    }
    request.end();
  } catch (error) {
    request.destroy();
    throw error;
  }
}

/** Resolves when more can be written or the request has closed. */
function room(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done);
      request.off('close', done);
      resolve();
    };
    request.once('drain', done);
    request.once('close', done);
  });
}

async function beginning(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= ANSWER_MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function brokenBy(error: unknown, direction: Direction, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof CliError) return error;
  const code = errorCode(error);
  // Other `ERR_…` codes from Node mean a wrong call: our own bug, shown as one.
  if (code?.startsWith('ERR_') && code !== 'ERR_STREAM_PREMATURE_CLOSE') return error;
  return transferBroken(direction, code ?? (error instanceof Error ? error.message : 'no reason'));
}
