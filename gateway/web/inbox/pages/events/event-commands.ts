import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import { stringifyExact } from '../../../../../shared/lib/json/exact-json.ts';
import { isObject } from '../../../../../shared/lib/guards.ts';
import { mailboxText } from '../../../../../shared/rules/inbox/gist.ts';
import { SAMPLE_NAMES } from '../../../../../shared/rules/inbox/sample-names.ts';
import { mailOf } from './event-copy.tsx';

// Commands to paste into a terminal. Outsiders wrote what is in them, so everything is quoted, and nothing but ASCII
// stays as it is: a terminal would act on control characters, even inside quotes.

/** A longer body isn't written into a command. */
const BODY_MAX_CHARS = 32 * 1024;
const VALUE_MAX_CHARS = 2000;
const SETS_MAX_CHARS = 8 * 1024;
/** A name that `--set` can reach. */
const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;
/** Headers that curl writes, or that belong to the connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'connection',
  'content-length',
  'expect',
  'host',
  'transfer-encoding',
  'via',
]);
const OWN_PREFIXES = ['accept-', 'cf-', 'sec-', 'x-forwarded-', 'x-real-'];

/** Sends the same request to a program under development. Null if the payload isn't here, or is no text. */
export function curlCommand({ payload, headers = {} }: Envelope): string | null {
  const body = bodyWord(payload);
  if (body === null || body.length > BODY_MAX_CHARS) return null;
  const parts = ["curl 'http://localhost:3000/'"];
  for (const [name, value] of Object.entries(headers)) {
    if (!isOwnHeader(name.toLowerCase())) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  return [...parts, `--data-raw ${body}`].join(' \\\n  ');
}

function bodyWord(payload: unknown): string | null {
  if (payload === null || payload === undefined) return null;
  if (!isObject(payload) || Object.keys(payload).length !== 1) return quotedJson(payload);
  const { text, base64 } = payload;
  if (typeof base64 === 'string') return null;
  return typeof text === 'string' ? quoted(text) : quotedJson(payload);
}

function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Sends a similar event to the same source. Null if its payload has no fields. */
export function triggerCommand(event: Envelope, verification: string | null): string | null {
  const mail = mailOf(event);
  if (mail) {
    const from = mail.from ? mailboxText(mail.from) : undefined;
    return command('email', event.source, { subject: mail.subject, from, text: mail.text });
  }
  if (event.channel !== 'webhook' || !isObject(event.payload)) return null;
  const known = `${verification ?? ''}.${event.type}`;
  return command(SAMPLE_NAMES.includes(known) ? known : 'webhook', event.source, event.payload);
}

function command(kind: string, source: string, fields: Readonly<Record<string, unknown>>): string {
  const parts = [`svc trigger ${kind} --source ${quoted(source)}`];
  let left = SETS_MAX_CHARS;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || !PLAIN_NAME.test(name)) continue;
    const set = `--set ${quoted(`${name}=${asciiJson(value)}`)}`;
    if (set.length > Math.min(left, VALUE_MAX_CHARS)) continue;
    left -= set.length;
    parts.push(set);
  }
  return parts.join(' \\\n  ');
}

function quotedJson(value: unknown): string {
  return quoted(asciiJson(value));
}

/** JSON in which every other character is written as an escape. */
function asciiJson(value: unknown): string {
  return stringifyExact(value).replaceAll(/[^ -~]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** One word of a shell, which is plain ASCII. */
function quoted(text: string): string {
  if (/^[\w./:=@%+-]+$/.test(text)) return text;
  if (/^[ -~]*$/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(text.toWellFormed(), 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    if (character === '\n') return '\\n';
    if (character === "'" || character === '\\') return `\\${character}`;
    return byte < 0x20 || byte > 0x7e ? `\\x${byte.toString(16).padStart(2, '0')}` : character;
  });
  return `$'${bytes.join('')}'`;
}
