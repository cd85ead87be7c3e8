import type { OutgoingHttpHeaders } from 'node:http';
import { stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { usageError } from '../errors.ts';
import { isSendable } from '../call/header.ts';
import type { FeedEvent } from '../../clients/typescript/core/event-feed.ts';
import { getBytes, postBytes, type HttpResult } from './http-send.ts';
import { WEBHOOK_BODY_MAX_BYTES } from '../../shared/lib/limits.ts';
import { signWebhook } from '../../shared/rules/payload/signature.ts';
import type { Verification } from '../../shared/senders/registry.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

const FORWARD_TIMEOUT_MS = 30_000;
const PAYLOAD_TIMEOUT_MS = 60_000;

/** Headers that only concern the connection they arrived on. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** How to sign forwarded events, because svc doesn't store the original signatures. */
export interface Signing {
  readonly verification: Verification;
  readonly secret: string;
  readonly signatureHeader: string | undefined;
}

/** An address as people type it: `3000`, `:3000/hook`, `localhost:3000/hook` or a full URL. */
export function forwardUrl(text: string): URL {
  const whole = /^https?:\/\//i.test(text)
    ? text
    : `http://${text.replace(/^:?(\d+)(?=\/|$)/, 'localhost:$1')}`;
  const otherScheme = whole !== text && text.includes('://');
  const url = otherScheme ? null : parsedUrl(whole);
  if (!url) {
    throw usageError(
      `\`${text}\` isn't an http or https address.`,
      'For example: --forward localhost:3000/webhooks',
    );
  }
  return url;
}

/** POSTs a claimed event as its sender did: the same bytes, with the same type and headers. */
export async function forwardEvent(
  url: URL,
  event: FeedEvent,
  signing: Signing | null,
  signal: AbortSignal,
): Promise<HttpResult> {
  const body = await bodyOf(event);
  const headers = forwardedHeaders(event);
  headers['svc-event-id'] = event.id;
  if (signing) Object.assign(headers, signatureHeaders(event, body, headers, signing));
  return postBytes(url, { headers, body, timeoutMs: FORWARD_TIMEOUT_MS, signal });
}

function storedHeaders(event: FeedEvent): Record<string, string> {
  const stored = event['headers'];
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(isObject(stored) ? stored : {})) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
  }
  return headers;
}

function forwardedHeaders(event: FeedEvent): OutgoingHttpHeaders {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(storedHeaders(event))) {
    if (!CONNECTION_HEADERS.has(name) && isSendable(name, value)) headers[name] = value;
  }
  // A sender may have named no type; what isn't a webhook is sent as JSON.
  if (event['channel'] !== 'webhook') headers['content-type'] ??= 'application/json';
  return headers;
}

function signatureHeaders(
  event: FeedEvent,
  body: Uint8Array,
  headers: OutgoingHttpHeaders,
  signing: Signing,
): Record<string, string> {
  const given = headers['webhook-id'] ?? headers['svix-id'];
  // The receiver might check leftover headers of another signature scheme instead of ours.
  for (const name of Object.keys(headers)) {
    if (/^(webhook|svix)-(id|timestamp|signature)$/.test(name)) delete headers[name];
  }
  return signWebhook({
    verification: signing.verification,
    secret: signing.secret,
    signatureHeader: signing.signatureHeader,
    id: typeof given === 'string' && !given.includes('.') ? given : event.id,
    body,
    nowMs: Date.now(),
  });
}

/** The body as it came. A gateway of an earlier release has it for large ones only; others are written from the payload. */
async function bodyOf(event: FeedEvent): Promise<Uint8Array> {
  const link = event['body_url'] ?? event['payload_url'];
  if (typeof link === 'string') {
    return getBytes(new URL(link), WEBHOOK_BODY_MAX_BYTES, PAYLOAD_TIMEOUT_MS);
  }
  if (event['payload_purged'] === true) throw new Error('The payload is deleted.');
  return payloadBytes(event['payload'], storedHeaders(event)['content-type']);
}

/** Writes a payload as the body it was parsed from, by its content type. */
export function payloadBytes(payload: unknown, contentType: string | undefined): Buffer {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type.endsWith('/json') || type.endsWith('+json') || !isObject(payload)) {
    return Buffer.from(stringifyExact(payload ?? null));
  }
  if (type === 'application/x-www-form-urlencoded') return Buffer.from(formText(payload));
  return unwrapped(payload) ?? Buffer.from(stringifyExact(payload));
}

/** The bytes in `{text}` or `{base64}`, which hold bodies that are neither JSON nor a form. */
function unwrapped(payload: Readonly<Record<string, unknown>>): Buffer | null {
  const { text, base64 } = payload;
  if (Object.keys(payload).length !== 1) return null;
  if (typeof text === 'string') return Buffer.from(text);
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : null;
}

function formText(fields: Readonly<Record<string, unknown>>): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) form.append(name, String(item));
  }
  return form.toString();
}
