import type { ServiceError } from '../errors.ts';

/** The revision whose requests carry their version and client with them. */
const MODERN_VERSION = '2026-07-28';
/** Revisions that begin with `initialize`, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
export const SUPPORTED_VERSIONS: readonly string[] = [MODERN_VERSION, ...LEGACY_VERSIONS];

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_CLIENT = 'io.modelcontextprotocol/clientInfo';
export const META_SERVER = 'io.modelcontextprotocol/serverInfo';
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
const RESOURCE_NOT_FOUND = -32_002;
const HEADER_MISMATCH = -32_020;
const UNSUPPORTED_VERSION = -32_022;

type Fields = Record<string, unknown>;
export type RequestId = string | number;
export type Era = 'modern' | 'legacy';

/** A request, or a notification where the id is null. */
export interface Message {
  readonly id: RequestId | null;
  readonly method: string;
  readonly params: Fields;
  readonly meta: Fields;
}

/** A request that broke the protocol, and the HTTP status that says so. */
export class ProtocolError extends Error {
  readonly code: number;
  readonly status: number;
  readonly data: Fields | undefined;

  constructor(status: number, code: number, message: string, data?: Fields) {
    super(message);
    this.name = 'ProtocolError';
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

/** The id of whatever arrived, so that a refusal can name it. */
export function idOf(value: unknown): RequestId | null {
  const id = isFields(value) ? value['id'] : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : null;
}

/** One request or notification. Batches, answers and malformed messages are refused. */
export function readMessage(value: unknown): Message {
  if (Array.isArray(value)) throw invalidRequest('Batches are not supported: send one message.');
  if (!isFields(value) || value['jsonrpc'] !== '2.0' || typeof value['method'] !== 'string') {
    throw invalidRequest('Expected a JSON-RPC 2.0 request or notification.');
  }
  const id = idOf(value);
  if ('id' in value && id === null) throw invalidRequest('The id must be a string or a number.');
  const params = value['params'] ?? {};
  if (!isFields(params)) throw invalidRequest('The params must be an object.');
  const meta = params['_meta'] ?? {};
  if (!isFields(meta)) throw invalidRequest('The _meta must be an object.');
  return { id, method: value['method'], params, meta };
}

/** The client name that a request gives: each one of the newer revision, and `initialize` of older ones. */
export function clientNameOf({ method, meta, params }: Message): string | undefined {
  const client = method === 'initialize' ? params['clientInfo'] : meta[META_CLIENT];
  const name = isFields(client) ? client['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

/** The headers that repeat what the body says. */
export interface MirrorHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** Which kind of revision a message speaks; refuses what the newer one requires and does not find. */
export function eraOf(message: Message, headers: MirrorHeaders): Era {
  const version = message.meta[META_VERSION];
  if (version !== undefined && version !== headers.version && message.id !== null) {
    throw mismatch('MCP-Protocol-Version', headers.version, version);
  }
  if (headers.version === undefined || LEGACY_VERSIONS.includes(headers.version)) return 'legacy';
  if (headers.version !== MODERN_VERSION) {
    throw new ProtocolError(400, UNSUPPORTED_VERSION, 'Unsupported protocol version', {
      supported: SUPPORTED_VERSIONS,
      requested: headers.version,
    });
  }
  if (message.id !== null) checkModern(message, headers);
  return 'modern';
}

function checkModern(message: Message, headers: MirrorHeaders): void {
  const { method, params, meta } = message;
  if (meta[META_VERSION] === undefined) throw missingMeta(META_VERSION);
  if (!isFields(meta[META_CAPABILITIES])) throw missingMeta(META_CAPABILITIES);
  if (headers.method !== method) throw mismatch('Mcp-Method', headers.method, method);
  const field = NAME_FIELDS.get(method);
  if (field === undefined) return;
  const name = decodeHeader(headers.name);
  if (name !== params[field]) throw mismatch('Mcp-Name', name, params[field]);
}

/** What `Mcp-Name` repeats, of the methods that have it. */
const NAME_FIELDS: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/** Header values that ASCII cannot hold come as `=?base64?…?=`. */
function decodeHeader(value: string | undefined): string | undefined {
  if (value === undefined || !value.startsWith('=?base64?') || !value.endsWith('?=')) return value;
  return Buffer.from(value.slice('=?base64?'.length, -'?='.length), 'base64').toString('utf8');
}

export function methodNotFound(era: Era): ProtocolError {
  // To an older client 404 means that its session is gone.
  const status = era === 'modern' ? 404 : 200;
  return new ProtocolError(status, METHOD_NOT_FOUND, 'Method not found');
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(200, INVALID_PARAMS, message);
}

/** Revision 2026-07-28 has no code of its own for this any more. */
export function resourceNotFound(uri: string, era: Era): ProtocolError {
  const code = era === 'modern' ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
  return new ProtocolError(200, code, 'Resource not found', { uri });
}

/** What the product refuses within a request: its key and its body were in order, so HTTP has no part in it. */
export function refusedInside(error: ServiceError): ProtocolError {
  const code = error.code === 'VALIDATION_FAILED' ? INVALID_PARAMS : error.status;
  return new ProtocolError(200, code, error.line(), { ...error.details, code: error.code });
}

export function invalidRequest(message: string): ProtocolError {
  return new ProtocolError(400, INVALID_REQUEST, message);
}

function missingMeta(name: string): ProtocolError {
  return new ProtocolError(400, INVALID_PARAMS, `Invalid params: _meta lacks ${name}`);
}

function mismatch(header: string, found: string | undefined, body: unknown): ProtocolError {
  const text = found === undefined ? 'is missing' : `value ${quote(found)} does not match`;
  return new ProtocolError(
    400,
    HEADER_MISMATCH,
    `Header mismatch: ${header} header ${text}; the body says ${quote(body)}`,
  );
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `'${value.slice(0, 100)}'` : 'nothing';
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON-RPC result from the JSON of its members. */
export function resultJson(id: RequestId, members: readonly string[]): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members.join(',')}}}`;
}

/** A JSON-RPC error. */
export function errorJson(
  id: RequestId | null,
  error: { code: number; message: string; data?: Fields | undefined },
): string {
  const { code, message, data } = error;
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}
