import type { JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';
import { isObject, parseObject } from '../../shared/lib/guards.ts';

/** JSON-RPC's code for a line that isn't JSON, and the one for a server's own errors. */
export const PARSE_ERROR = -32700;
export const SERVER_ERROR = -32000;

export type MessageId = string | number;
export type Fields = Record<string, unknown>;

export const LISTEN_METHOD = 'subscriptions/listen';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
/** The revision with self-contained requests. */
const MODERN_VERSION = '2026-07-28';

interface Message {
  readonly method?: unknown;
  readonly params?: unknown;
}

/** The protocol version that a message names (since 2026-07-28). */
export function versionOf({ params }: Message): string | null {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? textOf(meta[VERSION_KEY]) : null;
}

/** The tool, prompt, resource or task that a message is about. */
export function subjectOf({ params }: Message): string | null {
  if (!isObject(params)) return null;
  return textOf(params['name']) ?? textOf(params['uri']) ?? textOf(params['taskId']);
}

const NAMED_METHODS: ReadonlySet<unknown> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** The headers that repeat a self-contained message's fields. */
export function headersOf(
  message: Message,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const { 'mcp-session-id': _session, ...others } = given;
  const version = versionOf(message);
  const method = textOf(message.method);
  if (version === null || method === null) return { ...given };
  const subject = NAMED_METHODS.has(method) ? subjectOf(message) : null;
  return {
    ...others,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': headerValue(version),
    'mcp-method': headerValue(method),
    ...(subject !== null && { 'mcp-name': headerValue(subject) }),
  };
}

/** A value that a header can't hold, or that looks like this encoding, is written as base64. */
function headerValue(text: string): string {
  const plain =
    /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** An answer that only says the request is done. */
export function doneLine(id: MessageId): JSONRPCMessage {
  return { jsonrpc: '2.0', id, result: {} };
}

/** An error answer. */
export function errorLine(id: MessageId | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

/** Returns an answer's JSON, or null if it isn't JSON-RPC. An error without an id gets the request's id. */
export function answerOf(text: string, id: MessageId): string | null {
  const answer = parseObject(text);
  if (answer?.['jsonrpc'] !== '2.0') return null;
  const nameless = answer['id'] === null || answer['id'] === undefined;
  return nameless && 'error' in answer ? JSON.stringify({ ...answer, id }) : text;
}

/** Whether the text answers this request. */
export function isAnswerTo(text: string, id: MessageId): boolean {
  const message = parseObject(text);
  return message !== null && message['id'] === id && !('method' in message);
}

/** A request for a stream of changes. */
export function listenRequest(uris: readonly string[], list: boolean): Fields {
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

/** Adds subscriptions to an `initialize` answer: the bridge keeps them, because a server without sessions can't. */
export function withSubscriptions(answer: JSONRPCResultResponse): JSONRPCMessage {
  const { capabilities } = answer.result;
  if (!isObject(capabilities) || !isObject(capabilities['resources'])) return answer;
  const resources = { ...capabilities['resources'], subscribe: true, listChanged: true };
  const more = { ...capabilities, resources };
  return { ...answer, result: { ...answer.result, capabilities: more } };
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

/** The error in a JSON-RPC answer; null for anything else. */
export function errorOf(text: string): RpcError | null {
  const answer = parseObject(text);
  const error = answer?.['jsonrpc'] === '2.0' ? answer['error'] : undefined;
  if (!isObject(error)) return null;
  const { code, message } = error;
  return typeof code === 'number' && typeof message === 'string' ? { code, message } : null;
}

/** A REST error body as one line: `CODE: message hint`. */
export function restErrorText(text: string): string | null {
  const error = parseObject(text)?.['error'];
  if (!isObject(error)) return null;
  const { code, message, hint } = error;
  const said = [message, hint].filter((part) => typeof part === 'string').join(' ');
  return typeof code === 'string' ? `${code}: ${said}` : said || null;
}

export function idOf(value: unknown): MessageId | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
