import type { CallOptions, RunOperation } from './call/endpoint.ts';
import { answeredCode, SvcError } from './core/errors.ts';
import { ENDPOINTS } from './generated/endpoints.ts';
import type { FileGetAnswer, FilePutAnswer } from './generated/types.ts';

/** Larger files go to an upload address of their own. */
const INLINE_MAX_BYTES = 1_048_576;

/** How to save a file. */
export interface SaveOptions extends CallOptions {
  readonly content_type?: string | undefined;
  /** The version that the stored file must have; 0 if there must be none. */
  readonly if_version?: number | undefined;
}

interface Deps {
  readonly run: RunOperation;
  readonly fetch: typeof globalThis.fetch;
}

/** The record of a file, with its bytes or a link to them; null if there's none. */
export async function fileOrNull(
  run: RunOperation,
  input: { readonly path: string },
  options?: CallOptions,
): Promise<FileGetAnswer | null> {
  try {
    return await run<FileGetAnswer>(ENDPOINTS.file_get, input, options);
  } catch (error) {
    if (answeredCode(error) === 'NOT_FOUND') return null;
    throw error;
  }
}

/** The bytes of a file of any size; null if there's none. */
export async function readFile(
  { run, fetch }: Deps,
  path: string,
  options?: CallOptions,
): Promise<Uint8Array | null> {
  const found = await fileOrNull(run, { path }, options);
  if (!found) return null;
  const { content_base64: content, download_url: url } = found;
  if (content !== undefined) {
    return Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  }
  const response = await fetch(url ?? '', { signal: options?.signal ?? null });
  if (!response.ok) throw broken(path, 'download', response.status);
  const bytes = new Uint8Array(await response.arrayBuffer());
  await refuseOthers(path, bytes, found.sha256);
  return bytes;
}

/** A browser page over plain http has no digests to check with. */
async function refuseOthers(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  sha256: string,
): Promise<void> {
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>;
  if (!subtle) return;
  const sum = new Uint8Array(await subtle.digest('SHA-256', bytes));
  const hex = Array.from(sum, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (hex === sha256) return;
  const message = `The download of ${path} isn't what was saved.`;
  throw new SvcError({ code: 'TRANSFER_BROKEN', message });
}

/** Saves a file of up to 100 MB. */
export async function writeFile(
  { run, fetch }: Deps,
  path: string,
  content: string | Uint8Array,
  { content_type, if_version, ...options }: SaveOptions = {},
): Promise<FilePutAnswer> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const condition = { path, ...(if_version !== undefined && { if_version }) };
  if (bytes.byteLength <= INLINE_MAX_BYTES) {
    const input = { ...condition, content_base64: base64Of(bytes), content_type };
    return run(ENDPOINTS.file_put, input, options);
  }
  const upload = { size: bytes.byteLength, ...(content_type !== undefined && { content_type }) };
  const opened: FilePutAnswer = await run(ENDPOINTS.file_put, { path, upload }, options);
  const { upload_url: url = '', upload_headers: headers = {}, upload_id: complete } = opened;
  const response = await fetch(url, {
    method: 'PUT',
    headers,
    body: bytes as Uint8Array<ArrayBuffer>,
    signal: options.signal ?? null,
  });
  if (!response.ok) throw broken(path, 'upload', response.status);
  const { idempotencyKey: _ofTheOpening, ...others } = options;
  return run(ENDPOINTS.file_put, { ...condition, complete }, others);
}

const PIECE_BYTES = 32_768;

function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES)));
  }
  return btoa(pieces.join(''));
}

function broken(path: string, direction: string, status: number): SvcError {
  const message = `The ${direction} of ${path} was answered HTTP ${status}.`;
  return new SvcError({ code: 'TRANSFER_BROKEN', message, status });
}
