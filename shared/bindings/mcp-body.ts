import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { plainNumbers } from '../exact-json.ts';
import { MCP_BODY_MAX_BYTES } from '../limits.ts';
import { parseBoundedJson } from '../rules/payload.ts';
import { isObject } from '../untyped.ts';
import { PARSE_ERROR, ProtocolError } from './mcp-protocol.ts';
import { readBody, refuseEncoded } from './read-body.ts';

/**
 * The JSON of a request, bounded in size and depth. Only the arguments keep their numbers as they were written. Clients are
 * not held to their Content-Type.
 */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  refuseEncoded(incoming);
  const bytes = await readBody(incoming, MCP_BODY_MAX_BYTES);
  const value = isUtf8(bytes) ? parseBoundedJson(bytes) : undefined;
  if (value === undefined) throw new ProtocolError(400, PARSE_ERROR, 'Parse error');
  const params = isObject(value) ? value['params'] : undefined;
  plainNumbers(params, 'arguments');
  return plainNumbers(value, 'params');
}
