import { isObject } from '../../shared/untyped.ts';

/** JSON-RPC's code for a line that is no JSON, and the one left to servers for trouble of their own. */
export const PARSE_ERROR = -32700;
export const SERVER_ERROR = -32000;

export type MessageId = string | number;

export const LISTEN_METHOD = 'subscriptions/listen';

/** What the bridge needs to know of a message; the rest passes through as it is. */
export interface ClientMessage {
  /** Null for notifications and answers, which nobody answers. */
  readonly id: MessageId | null;
  readonly method: string | null;
  /** The request that a `notifications/cancelled` takes back. */
  readonly cancels: MessageId | null;
  /** The protocol version a message names itself, since 2026-07-28. */
  readonly version: string | null;
  /** The tool, prompt or resource the message is about. */
  readonly subject: string | null;
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
/** The revision whose requests carry all that belongs to them. */
const MODERN_VERSION = '2026-07-28';

/** Reads a line of the client; null when it is no JSON. */
export function readMessage(line: Buffer): ClientMessage | null {
  const value = parseJson(line.toString('utf8'));
  if (value === undefined) return null;
  const message = isObject(value) ? value : {};
  const params = isObject(message['params']) ? message['params'] : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const method = textOf(message['method']);
  return {
    id: method === null ? null : idOf(message['id']),
    method,
    cancels: method === 'notifications/cancelled' ? idOf(params['requestId']) : null,
    version: textOf(meta[VERSION_KEY]),
    subject: textOf(params['name']) ?? textOf(params['uri']),
  };
}

/** What the first message and its answer settled for those that follow. */
export interface Negotiated {
  readonly version: string | null;
  /** By which the other side knows the client again. */
  readonly session: string | null;
}

/** The headers that repeat what the message says, so that a server can tell without its body. */
export function messageHeaders(
  message: ClientMessage,
  negotiated: Negotiated,
): Record<string, string> {
  const isLater = message.version === null && message.method !== 'initialize';
  const { version, session } = isLater ? negotiated : { ...message, session: null };
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(version !== null && { 'MCP-Protocol-Version': headerValue(version) }),
    ...(session !== null && { 'Mcp-Session-Id': session }),
    ...(message.version !== null && message.method !== null && standardHeaders(message)),
  };
}

const NAMED_METHODS: ReadonlySet<string | null> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
]);

function standardHeaders({ method, subject }: ClientMessage): Record<string, string> {
  return {
    'Mcp-Method': headerValue(method ?? ''),
    ...(subject !== null && NAMED_METHODS.has(method) && { 'Mcp-Name': headerValue(subject) }),
  };
}

/** What a header cannot hold, or what looks like this very form, is written as base64. */
function headerValue(text: string): string {
  const plain =
    /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The line of an answer that says no more than that something is done. */
export function doneLine(id: MessageId): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: {} });
}

/** The line of an error answer. */
export function errorLine(id: MessageId | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/**
 * The line to pass on for an answer in JSON, or null when it is none of JSON-RPC. An error that could not tell which
 * request it is for gets its id.
 */
export function answerLine(text: string, id: MessageId | null): string | null {
  const answer = parseJson(text);
  if (!isObject(answer) || answer['jsonrpc'] !== '2.0') return null;
  const nameless = answer['id'] === null || answer['id'] === undefined;
  if (!nameless || !('error' in answer) || id === null) return text;
  return JSON.stringify({ ...answer, id });
}

/** Whether a line is the answer to a request. */
export function isAnswerTo(text: string, id: MessageId): boolean {
  const message = parseJson(text);
  return isObject(message) && message['id'] === id && !('method' in message);
}

/** The protocol version an answer to `initialize` settles on. */
export function negotiatedVersion(text: string): string | null {
  const answer = parseJson(text);
  const result = isObject(answer) ? answer['result'] : undefined;
  return isObject(result) ? textOf(result['protocolVersion']) : null;
}

/** The request for a stream of what changes. */
export function listenRequest(uris: readonly string[], list: boolean): Record<string, unknown> {
  return {
    jsonrpc: '2.0',
    id: 'changes',
    method: LISTEN_METHOD,
    params: {
      _meta: { [VERSION_KEY]: MODERN_VERSION, [CAPABILITIES_KEY]: {} },
      notifications: {
        ...(list && { resourcesListChanged: true }),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      },
    },
  };
}

/**
 * The answer to `initialize` with what this side adds to the other: it keeps subscriptions, which a server without
 * sessions cannot.
 */
export function withSubscriptions(text: string): string {
  const answer = parseJson(text);
  const result = isObject(answer) ? answer['result'] : undefined;
  const capabilities = isObject(result) ? result['capabilities'] : undefined;
  if (!isObject(answer) || !isObject(result) || !isObject(capabilities)) return text;
  if (!isObject(capabilities['resources'])) return text;
  const resources = { ...capabilities['resources'], subscribe: true, listChanged: true };
  return JSON.stringify({
    ...answer,
    result: { ...result, capabilities: { ...capabilities, resources } },
  });
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

/** The error of an answer in JSON-RPC; null for any other text. */
export function errorOf(text: string): RpcError | null {
  const answer = parseJson(text);
  const error = isObject(answer) && answer['jsonrpc'] === '2.0' ? answer['error'] : undefined;
  if (!isObject(error)) return null;
  const { code, message } = error;
  return typeof code === 'number' && typeof message === 'string' ? { code, message } : null;
}

/** An error body of the REST interface as one line: `CODE: message hint`. */
export function restErrorText(text: string): string | null {
  const body = parseJson(text);
  const error = isObject(body) ? body['error'] : undefined;
  if (!isObject(error)) return null;
  const { code, message, hint } = error;
  const said = [message, hint].filter((part) => typeof part === 'string').join(' ');
  return typeof code === 'string' ? `${code}: ${said}` : said || null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function idOf(value: unknown): MessageId | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
