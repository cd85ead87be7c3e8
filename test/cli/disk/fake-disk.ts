import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../../cli/run.ts';
import { notFound } from '../../../shared/lib/errors.ts';
import { VERSION } from '../../../shared/lib/version.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { json, refuse } from '../fake-daemon.ts';
import { TextSink } from '../fake-output.ts';
import { listenHttp } from '../tools/fakes.ts';

const MB = 1024 * 1024;
const UPLOAD_TYPE = 'application/vnd.service.upload+json';

interface Kept {
  readonly bytes: Buffer;
  readonly type: string;
}

interface Upload {
  readonly path: string;
  readonly size: number;
  readonly type: string;
  bytes: Buffer | null;
}

/** The REST part of the disk in memory, with faults to order. */
export class FakeDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  readonly files = new Map<string, Kept>();
  /** `PUT /v1/files/a/b`, in the order of arrival. */
  readonly seen: string[] = [];
  /** Headers of the PUTs to upload addresses. */
  readonly uploadHeaders: IncomingMessage['headers'][] = [];
  /** How often each path was asked for at the same time, at most. */
  readonly refusals = new Map<string, [number, string]>();
  /** Called when an upload was opened. */
  onUpload: (path: string) => void = () => undefined;
  /** The digest that answers tell. */
  digest = (bytes: Buffer): string => sha256(bytes);
  /** After how many bytes a download is cut off; or it stays silent from there. */
  cutAfter: number | null = null;
  stallAfter: number | null = null;
  /** Items that stand in the list beside the files. */
  extra: string[] = [];
  /** Answers RATE_LIMITED this often. */
  limited = 0;
  busy = 0;
  busiest = 0;
  url = '';
  readonly #uploads = new Map<string, Upload>();
  #close: () => Promise<void> = () => Promise.resolve();

  static async start(): Promise<FakeDisk> {
    const disk = new FakeDisk();
    const server = await listenHttp((request, response) => {
      const chunks: Buffer[] = [];
      disk.busy += 1;
      disk.busiest = Math.max(disk.busiest, disk.busy);
      response.on('close', () => (disk.busy -= 1));
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        response.setHeader('x-service-version', VERSION);
        setTimeout(() => disk.#answer(request, Buffer.concat(chunks), response), 5);
      });
    });
    disk.url = server.url;
    disk.#close = server.close;
    return disk;
  }

  async stop(): Promise<void> {
    await this.#close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  put(path: string, content: string | Buffer): void {
    this.files.set(path, { bytes: Buffer.from(content), type: 'text/plain' });
  }

  text(path: string): string | undefined {
    return this.files.get(path)?.bytes.toString('utf8');
  }

  get env(): NodeJS.ProcessEnv {
    const home = join(this.folder, 'home');
    return { SVC_HOME: home, SVC_GATEWAY: this.url, SVC_API_KEY: 'svc_live_test' };
  }

  /** Runs a command line against this disk. */
  async svc(
    line: readonly string[],
    given: { signal?: AbortSignal; terminal?: boolean; columns?: number } = {},
  ) {
    const stdout = new TextSink(given.terminal ?? false, given.columns ?? 100);
    const stderr = new TextSink();
    const signal = given.signal ?? new AbortController().signal;
    const code = await run(line, { env: this.env, stdout, stderr, signal });
    return { code, out: stdout.text, err: stderr.text };
  }

  /** The methods and decoded paths of the calls about files. */
  calls(method: string): string[] {
    const start = `${method} /v1/files/`;
    return this.seen
      .filter((one) => one.startsWith(start))
      .map((one) => decodeURIComponent(one.slice(start.length)));
  }

  #answer(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { method = '', url = '', headers } = request;
    this.seen.push(`${method} ${url}`);
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    if (pathname.startsWith('/u/'))
      return this.#receive(pathname.slice(3), request, body, response);
    if (pathname.startsWith('/d/')) return this.#send(pathname.slice(3), request, response);
    if (headers.authorization !== 'Bearer svc_live_test') {
      return refuse(response, 401, 'UNAUTHENTICATED');
    }
    if (this.limited > 0) {
      this.limited -= 1;
      const error = { code: 'RATE_LIMITED', message: 'Slow.', details: { retry_after: 0.05 } };
      return json(response, { error }, 429);
    }
    if (pathname === '/v1/files') return json(response, this.#page(searchParams));
    return this.#file(method, decodeURIComponent(pathname.slice('/v1/files/'.length)), {
      type: headers['content-type'] ?? '',
      body,
      response,
    });
  }

  #file(
    method: string,
    path: string,
    { type, body, response }: { type: string; body: Buffer; response: ServerResponse },
  ): void {
    const refusal = this.refusals.get(path);
    if (refusal) return refuse(response, ...refusal);
    if (method === 'DELETE') return json(response, { deleted: this.files.delete(path) });
    if (method === 'GET') return this.#get(path, response);
    if (type === UPLOAD_TYPE) return this.#aboutUpload(path, body, response);
    if (body.length > MB) return refuse(response, 413, 'PAYLOAD_TOO_LARGE');
    this.files.set(path, { bytes: body, type });
    return json(response, this.#view(path));
  }

  #get(path: string, response: ServerResponse): void {
    const kept = this.files.get(path);
    if (!kept) return json(response, notFound(`file ${JSON.stringify(path)}`).body(), 404);
    const link = `${this.url}/d/${encodeURIComponent(path)}`;
    const content =
      kept.bytes.length > MB
        ? { download_url: link, expires_at: '2026-01-01T00:00:00.000Z' }
        : { content_base64: kept.bytes.toString('base64') };
    json(response, { ...this.#view(path), ...content });
  }

  #aboutUpload(path: string, body: Buffer, response: ServerResponse): void {
    const message: unknown = JSON.parse(body.toString('utf8'));
    const fields = isObject(message) ? message : {};
    const wanted = fields['upload'];
    if (isObject(wanted)) {
      const id = `upl_${randomBytes(8).toString('hex')}`;
      const [size, type] = [Number(wanted['size']), String(wanted['content_type'])];
      this.#uploads.set(id, { path, size, type, bytes: null });
      this.onUpload(path);
      return json(response, {
        status: 'uploading',
        upload_id: id,
        upload_url: `${this.url}/u/${id}`,
        upload_headers: { 'Content-Type': type, 'X-Signed': 'yes' },
        expires_at: '2026-01-01T00:00:00.000Z',
      });
    }
    const upload = this.#uploads.get(String(fields['complete']));
    if (upload?.path !== path) return refuse(response, 404, 'NOT_FOUND');
    if (!upload.bytes) return refuse(response, 409, 'UPLOAD_INCOMPLETE');
    this.files.set(path, { bytes: upload.bytes, type: upload.type });
    return json(response, this.#view(path));
  }

  #receive(id: string, { headers }: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const upload = this.#uploads.get(id);
    this.uploadHeaders.push(headers);
    if (!upload) return refuse(response, 404, 'NOT_FOUND');
    const isDeclared = Number(headers['content-length']) === upload.size;
    if (!isDeclared) return refuse(response, 400, 'VALIDATION_FAILED');
    upload.bytes = body;
    json(response, { status: 'received' });
  }

  #send(encoded: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const kept = this.files.get(decodeURIComponent(encoded));
    if (!kept || headers.authorization) return refuse(response, 404, 'NOT_FOUND');
    response.writeHead(200, { 'content-length': kept.bytes.length });
    const part = kept.bytes.subarray(0, this.cutAfter ?? this.stallAfter ?? kept.bytes.length);
    if (this.stallAfter !== null) response.write(part);
    else if (this.cutAfter !== null) response.write(part, () => response.destroy());
    else response.end(part);
  }

  #page(query: URLSearchParams) {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('cursor') ?? '';
    const limit = Number(query.get('limit') ?? 20);
    const paths = [...this.files.keys(), ...this.extra].toSorted();
    const found = paths.filter((path) => path.startsWith(prefix) && path > after);
    const shown = found.slice(0, limit);
    const next = found.length > limit ? shown.at(-1) : null;
    return { items: shown.map((path) => this.#view(path)), next_cursor: next };
  }

  #view(path: string) {
    const { bytes, type } = this.files.get(path) ?? { bytes: Buffer.from('x'), type: 'text/plain' };
    return {
      path,
      ref: `disk://${path}`,
      size_bytes: bytes.length,
      content_type: type,
      updated_at: '2026-01-01T00:00:00.000Z',
      version: 1,
      sha256: this.digest(bytes),
    };
  }
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Bytes that compress to nothing and repeat nowhere. */
export function noise(bytes: number): Buffer {
  return randomBytes(bytes);
}
