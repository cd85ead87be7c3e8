import { isObject } from '../lib/guards.ts';
import { parseExact, stringifyExact } from '../lib/json/exact-json.ts';
import { contentBytes, macOf } from './mac.ts';
import { textsIn, timePlaces, valuesAt } from './places.ts';
import type { MacProof, Place, Sender, SharedSecretProof, SignedRequest } from './sender.ts';

/** A delivery as its sender would send it. */
export interface SignedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  /** The body, with the signature in it where the sender puts it there. */
  readonly body: Buffer;
}

interface DeliveryInput extends Pick<SignedRequest, 'url' | 'payload'> {
  readonly secret: string;
  readonly id: string;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

/** Whether svc can sign as this sender does: not with a key that only the sender has. */
export function canSign({ proof }: Sender): boolean {
  return proof.kind !== 'public_key';
}

/** What the sender would send. Throws TypeError if only the sender can sign, or the body has no place for the signature. */
export function signDelivery(sender: Sender, delivery: DeliveryInput): SignedDelivery {
  const { proof, title } = sender;
  const body = Buffer.from(delivery.body);
  if (proof.kind === 'none') return { headers: {}, body };
  if (proof.kind === 'public_key') {
    throw new TypeError(`Only ${title} can sign its deliveries: svc has no key for it.`);
  }
  return proof.kind === 'mac'
    ? macDelivery(proof, delivery, body)
    : sharedDelivery(proof, delivery.secret, body);
}

function sharedDelivery(
  { at, each, form }: SharedSecretProof,
  secret: string,
  body: Buffer,
): SignedDelivery {
  const text =
    form === 'basic' ? `Basic ${Buffer.from(`svc:${secret}`).toString('base64')}` : secret;
  if (at.startsWith('header:')) return { headers: { [nameOf(at)]: text }, body };
  return { headers: {}, body: written(body, { at, each }, () => text) };
}

function macDelivery(proof: MacProof, delivery: DeliveryInput, body: Buffer): SignedDelivery {
  const time = timeOf(proof, delivery);
  const headers = headersBefore(proof, delivery.id, time);
  const signatureOf = (part: unknown, payload: SignedRequest['payload']): string => {
    const { url, secret } = delivery;
    const request = { method: 'POST', url, headers, body, payload, part, secret };
    const content = contentBytes(proof.content, request, time);
    const mac = content && macOf(proof, secret, content);
    if (!mac) throw new TypeError('The body has not all that the sender signs.');
    return mac.toString(proof.encoding === 'base64' ? 'base64' : 'hex');
  };
  const [place = 'header:x-signature'] = proof.signature;
  if (place.startsWith('body:')) {
    const at = { at: place, each: proof.each };
    return { headers, body: written(body, at, (part) => signatureOf(part, () => part)) };
  }
  const signature = signatureOf(undefined, delivery.payload);
  headers[nameOf(place)] = signatureText(proof, signature, time);
  return { headers, body };
}

/** The headers that are signed too. */
function headersBefore({ time, content }: MacProof, id: string, at: string) {
  const headers: Record<string, string> = {};
  const timeHeader = time && timePlaces(time).find((place) => place.startsWith('header:'));
  if (timeHeader) headers[nameOf(timeHeader)] = at;
  const idHeader = typeof content === 'string' && /\{header:([^}]+)\}/.exec(content)?.[1];
  if (!idHeader) return headers;
  if (id === '' || id.includes('.')) throw new TypeError('The webhook id is empty or holds a dot.');
  return { ...headers, [idHeader]: id };
}

function signatureText({ encoding, prefix, time }: MacProof, mac: string, at: string): string {
  const text = (encoding === 'hex_or_base64' ? 'sha256=' : (prefix ?? '')) + mac;
  const place = typeof time?.at === 'string' ? time.at : '';
  return place.startsWith('item:') ? `${nameOf(place)}${at},${text}` : text;
}

/** Now, as the sender writes it; a time in the body stays the body's. */
function timeOf({ time }: MacProof, { nowMs, ...request }: DeliveryInput): string {
  if (!time) return '';
  const inBody = timePlaces(time).filter((place) => place.startsWith('body:'));
  if (inBody.length > 0) {
    return inBody.flatMap((place) => textsIn(place, { headers: {}, ...request }))[0] ?? '';
  }
  if (time.unit === 'iso') return new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return String(time.unit === 'seconds' ? Math.floor(nowMs / 1000) : nowMs);
}

function nameOf(place: string): string {
  return place.slice(place.indexOf(':') + 1);
}

/** The body with a text in this place of each of its parts. */
function written(
  body: Buffer,
  { at, each }: { readonly at: Place; readonly each: string | undefined },
  textOf: (part: unknown) => string,
): Buffer {
  const path = nameOf(at).split('.');
  const last = path.pop() ?? '';
  let whole: unknown;
  try {
    whole = parseExact(body.toString('utf8'));
  } catch {
    whole = null;
  }
  const parts = each === undefined ? [whole] : valuesAt(whole, each);
  let count = 0;
  for (const part of parts) {
    const text = isObject(part) ? textOf(part) : '';
    const [holder] = path.length === 0 ? [part] : valuesAt(part, path.join('.'));
    if (!isObject(holder)) continue;
    holder[last] = text;
    count += 1;
  }
  if (count === 0) throw new TypeError(`The body has no place for ${nameOf(at)}.`);
  return Buffer.from(stringifyExact(whole));
}
