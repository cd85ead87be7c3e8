import { isUtf8 } from 'node:buffer';
import type { HonoRequest } from 'hono';
import { ServiceError } from '../errors.ts';
import { API_BODY_MAX_BYTES } from '../limits.ts';
import { parseBoundedJson } from '../rules/payload.ts';
import { PARSE_ERROR, ProtocolError } from './mcp-protocol.ts';

/** The JSON of a request body, bounded in size and depth. */
export async function readJson(request: HonoRequest): Promise<unknown> {
  const encoding = request.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');
  }
  const bytes = await readBytes(request);
  const value = isUtf8(bytes) ? parseBoundedJson(bytes) : undefined;
  if (value === undefined) throw new ProtocolError(400, PARSE_ERROR, 'Parse error');
  return value;
}

async function readBytes(request: HonoRequest): Promise<Buffer> {
  const length = request.header('content-length');
  // A body in chunks tells no length before it is there.
  if (length === undefined) return readChunks(request.raw.body);
  if (Number(length) > API_BODY_MAX_BYTES) throw tooLarge();
  return Buffer.from(await request.arrayBuffer());
}

async function readChunks(body: ReadableStream<Uint8Array> | null): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > API_BODY_MAX_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(): ServiceError {
  return new ServiceError('PAYLOAD_TOO_LARGE', {
    hint: 'At most 1 MB.',
    details: { max_bytes: API_BODY_MAX_BYTES },
  });
}
