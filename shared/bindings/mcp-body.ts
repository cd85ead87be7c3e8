import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { MCP_BODY_MAX_BYTES } from '../limits.ts';
import { parseBoundedJson } from '../rules/payload.ts';
import { PARSE_ERROR, ProtocolError } from './mcp-protocol.ts';
import { readBody, refuseEncoded } from './read-body.ts';

/** The JSON of a request, bounded in size and depth. Clients are not held to their Content-Type. */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  refuseEncoded(incoming);
  const bytes = await readBody(incoming, MCP_BODY_MAX_BYTES);
  const value = isUtf8(bytes) ? parseBoundedJson(bytes) : undefined;
  if (value === undefined) throw new ProtocolError(400, PARSE_ERROR, 'Parse error');
  return value;
}
