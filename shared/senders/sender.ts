import type { Sample } from '../lib/samples/fresh.ts';

/** Header values by lower-case name. Records from `headerRecord` have no prototype. */
export type HeaderRecord = Readonly<Record<string, string>>;

/**
 * Where a delivery says something: in a header, in the query, or in its parsed body, by a path such as `data.id`, in
 * which `*` is each item of a list.
 */
export type Place = `header:${string}` | `query:${string}` | `body:${string}`;

/**
 * Ways to read an id or a type: the first that gives anything counts. A list is joined with dots: its first place must
 * be there, the others are added where they are.
 */
export type FieldLookup = readonly (Place | readonly [Place, ...Place[]])[];

/** A delivery, as far as its proof is about it. */
export interface SignedRequest {
  readonly method: string;
  /** The address that the sender was given, with the query that it added. */
  readonly url: string;
  readonly headers: HeaderRecord;
  readonly body: Uint8Array;
  /** The parsed body, read when a declaration looks into it. */
  readonly payload: () => unknown;
  /** The sender's certificate (PEM), where its proof needs one. */
  readonly certificate?: string | null;
}

/** A request with the part of its body that is signed alone, and the secret. */
export interface SignedPart extends SignedRequest {
  readonly part: unknown;
  readonly secret: string;
}

/** When a delivery was signed. */
export interface SigningTime {
  /** Where it stands, the first that is there; `item:t=` is the item with this beginning beside the signatures. */
  readonly at: Place | `item:${string}` | readonly [Place, ...Place[]];
  readonly unit: 'seconds' | 'milliseconds' | 'iso';
  /** How far it may differ from now, inclusive. */
  readonly toleranceSeconds: number;
}

interface SignatureScheme {
  /** Where the signatures are: in each of these places, separated by `split`, after `prefix`. Any may match. */
  readonly signature: readonly Place[];
  readonly split?: ',' | ' ';
  readonly prefix?: string;
  /** These parts of the body are signed one by one, and places in the body are below them. */
  readonly each?: string;
  /** What is signed: a text with `{time}`, `{body}`, `{url}`, `{method}` and places such as `{header:x-id}`. */
  readonly content: string | ((request: SignedPart) => string | null);
  readonly time?: SigningTime;
}

/** An HMAC under a secret that both sides have. */
export interface MacProof extends SignatureScheme {
  readonly kind: 'mac';
  readonly hash: 'sha1' | 'sha256';
  readonly encoding: 'hex' | 'base64' | 'hex_or_base64';
  /** How the secret writes the key; `text` if left out. */
  readonly key?: 'text' | 'hex' | 'base64';
}

/** A signature with the sender's private key, in base64: svc can check it, and can't make one. */
export interface PublicKeyProof extends SignatureScheme {
  readonly kind: 'public_key';
  /** Where the key is from: the secret is the key itself, or the sender names a certificate at a host of its own. */
  readonly key: 'secret' | CertificatePlace;
}

export interface CertificatePlace {
  readonly at: Place;
  readonly hosts: readonly string[];
  readonly path: string;
}

/** A secret that is sent along: it shows who sends, and doesn't protect what is sent. */
export interface SharedSecretProof {
  readonly kind: 'shared_secret';
  readonly at: Place;
  readonly each?: string;
  /** How it is written; `basic` is the password of HTTP basic authentication. */
  readonly form: 'plain' | 'basic';
}

type Proof = { readonly kind: 'none' } | MacProof | PublicKeyProof | SharedSecretProof;

/** What a sender asks before it sends, and what it wants to hear. A challenge in the body is signed like a delivery. */
export interface Handshake {
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  readonly challenge: Place;
  /** The body is a challenge only if this place says so. */
  readonly when?: readonly [at: Place, is: string];
  /** The challenge itself as text, in this header, or in a JSON document. `sign` is an HMAC-SHA256 in hex. */
  readonly answer:
    | 'text'
    | `header:${string}`
    | ((challenge: string, sign: (text: string) => string) => Readonly<Record<string, string>>);
  /** What the answer says besides. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The sender chooses the secret, and tells it here. */
  readonly isSecret?: true;
}

/** A sender of webhooks: all that svc knows about it. */
export interface Sender<Name extends string = string> {
  /** The value of `verification`. */
  readonly name: Name;
  /** As people know it. */
  readonly title: string;
  /** Other words that a search finds it by. */
  readonly words?: string;
  readonly proof: Proof;
  /** `svc`: anybody may choose the secret. `sender`: the sender shows it. `handshake`: the sender tells svc. */
  readonly secretBy: 'svc' | 'sender' | 'handshake' | null;
  /** What the sender calls the secret. */
  readonly secretName?: string;
  /** Other beginnings of the header names, if all that the proof needs are there under it. */
  readonly alias?: readonly [from: string, to: string];
  /**
   * The delivery's id: the same when the sender repeats it. `any`: where any known sender has one. Without an id, equal
   * bodies are one delivery.
   */
  readonly id: FieldLookup | 'any';
  /** Without a type, the event is a `webhook.received`. */
  readonly type: FieldLookup;
  readonly handshake?: Handshake;
  /** What the sender wants to hear when a delivery has arrived; JSON with the event's id if left out. */
  readonly answer?: { readonly type: string; readonly body: string };
  /**
   * How to connect it. `{url}` is the source's address, `{header}` its signature header, `{secret}` the secret, and
   * `{store}` asks to store the sender's.
   */
  readonly steps: readonly string[];
  /** What it sends, before signing; null for the samples of `lib/samples/`. */
  readonly sample: { readonly summary: string; readonly build: () => Sample } | null;
}
