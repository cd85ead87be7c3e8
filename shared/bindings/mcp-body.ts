import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../errors.ts';
import { API_BODY_MAX_BYTES } from '../limits.ts';
import { parseBoundedJson } from '../rules/payload.ts';
import { PARSE_ERROR, ProtocolError } from './mcp-protocol.ts';
import { readBody } from './read-body.ts';

/** The JSON of a request, bounded in size and depth. Clients are not held to their Content-Type. */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const encoding = incoming.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', { headers: { Connection: 'close' } });
  }
  const bytes = await readBody(incoming, API_BODY_MAX_BYTES);
  const value = isUtf8(bytes) ? parseBoundedJson(bytes) : undefined;
  if (value === undefined) throw new ProtocolError(400, PARSE_ERROR, 'Parse error');
  return value;
}
