import { isUtf8 } from 'node:buffer';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  ProtocolErrorCode,
  type JSONRPCNotification,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { plainNumbers } from '../../lib/json/exact-json.ts';
import { MCP_BODY_MAX_BYTES } from '../../lib/limits.ts';
import { parseBoundedJson } from '../../rules/payload/payload.ts';
import { isObject } from '../../lib/guards.ts';
import type { Arrival } from '../http.ts';
import { invalidRequest, RefusedRequest } from './refusal.ts';
import { readBody, refuseEncoded } from '../read-body.ts';

export type Message = JSONRPCRequest | JSONRPCNotification;

const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** The extension that lets a call's answer be a task (SEP-2663). */
export const TASKS = 'io.modelcontextprotocol/tasks';

/**
 * Parses the JSON of a request, with limits on size and depth. Keeps exact numbers only in the arguments. Ignores the
 * Content-Type.
 */
export async function readJson(arrival: Arrival): Promise<unknown> {
  refuseEncoded(arrival.incoming);
  const bytes = await readBody(arrival, MCP_BODY_MAX_BYTES);
  const value = isUtf8(bytes) ? parseBoundedJson(bytes) : undefined;
  if (value === undefined) {
    throw new RefusedRequest(400, ProtocolErrorCode.ParseError, 'Parse error');
  }
  const params = isObject(value) ? value['params'] : undefined;
  plainNumbers(params, ['arguments']);
  return plainNumbers(value, ['params']);
}

/** Accepts one request or notification. The rate limit would count a batch as one call. */
export function messageOf(value: unknown): Message {
  if (Array.isArray(value)) throw invalidRequest('Batches are not supported: send one message.');
  const message = isObject(value) ? withoutNullParams(value) : value;
  if (isJSONRPCRequest(message) || isJSONRPCNotification(message)) return message;
  throw invalidRequest('Expected a JSON-RPC 2.0 request or notification.');
}

type Fields = Record<string, unknown>;

function withoutNullParams({ params, ...message }: Fields): Fields {
  if (params === null || params === undefined) return message;
  return { ...message, params: isObject(params) ? withoutNulls(params) : params };
}

/** Some clients send null for what they leave out. */
export function withoutNulls(given: Fields): Fields {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/** The id in the body, if any, so that a refusal can name it. */
export function idOf(value: unknown): string | number | null {
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null;
}

/** The client name in a request: the newer revision has it in every request, older ones in `initialize`. */
export function clientNameOf({ method, params }: Message): string | undefined {
  const client =
    method === 'initialize' ? params?.['clientInfo'] : params?.['_meta']?.[META_CLIENT];
  const name = isObject(client) ? client['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** Whether the client that sent a message says that it takes tasks. */
export function takesTasks({ params }: Message): boolean {
  const capabilities = params?.['_meta']?.[META_CAPABILITIES];
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined;
  return isObject(extensions) && isObject(extensions[TASKS]);
}
