import { isObject } from '../../lib/guards.ts';
import { charsetOf, decoded } from './body-charset.ts';

const PARTS_MAX = 1000;
const LINE_MAX_BYTES = 200;

interface Part {
  readonly name: string;
  readonly filename: string | null;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
}

type Field = string | Readonly<Record<string, string>>;

/**
 * The fields of a `multipart/form-data` body (RFC 7578): texts, and `{filename, content_type, base64}` for files. Null if
 * it isn't one, or has over 1,000 parts.
 */
export function parseMultipart(body: Buffer): Record<string, Field | Field[]> | null {
  const parts = partsOf(body);
  if (parts === null) return null;
  const charsets = charsetsIn(parts);
  const fields: Record<string, Field | Field[]> = Object.create(null);
  for (const part of parts) {
    const value = fieldOf(part, charsets);
    const before = fields[part.name];
    if (before === undefined) fields[part.name] = value;
    else if (Array.isArray(before)) before.push(value);
    else fields[part.name] = [before, value];
  }
  return fields;
}

/** The boundary is the first line, so that the bytes alone say what they are. */
function partsOf(body: Buffer): Part[] | null {
  const lineEnd = body.indexOf('\r\n');
  const line =
    lineEnd === -1 || lineEnd > LINE_MAX_BYTES ? '' : body.toString('latin1', 0, lineEnd);
  if (!line.startsWith('--') || line.length < 3) return null;
  const boundary = Buffer.from(`\r\n${line}`, 'latin1');
  const parts: Part[] = [];
  for (let at = lineEnd + 2; ;) {
    // A part without headers begins with the empty line that ends them.
    const end = body.indexOf(boundary, at - 2);
    if (end === -1 || parts.length >= PARTS_MAX) return null;
    const part = partOf(body.subarray(at, Math.max(at, end)));
    if (part === null) return null;
    parts.push(part);
    at = end + boundary.length;
    if (body.toString('latin1', at, at + 2) === '--') return parts;
    at += 2;
  }
}

function partOf(bytes: Buffer): Part | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = bytes.toString('utf8', 0, end);
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(head)?.[1] ?? '';
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) return null;
  const filename = /;\s*filename="([^"]*)"/i.exec(disposition)?.[1] ?? null;
  const contentType = /^content-type:\s*(.*)$/im.exec(head)?.[1]?.trim();
  return { name, filename, contentType, bytes: bytes.subarray(end + 4) };
}

/** SendGrid says in a field of this name which charset each other field has. */
function charsetsIn(parts: readonly Part[]): Readonly<Record<string, unknown>> {
  const field = parts.find(({ name }) => name === 'charsets');
  try {
    const named: unknown = field ? JSON.parse(field.bytes.toString('utf8')) : null;
    return isObject(named) ? named : {};
  } catch {
    return {};
  }
}

function fieldOf({ name, filename, contentType, bytes }: Part, charsets: object): Field {
  if (filename !== null) {
    const content_type = contentType ?? 'application/octet-stream';
    return { filename, content_type, base64: bytes.toString('base64') };
  }
  const own: unknown = Object.hasOwn(charsets, name) ? Reflect.get(charsets, name) : undefined;
  const said = typeof own === 'string' ? `;charset=${own}` : contentType;
  return decoded(bytes, charsetOf(said)) ?? { base64: bytes.toString('base64') };
}
