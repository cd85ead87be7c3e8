import type { Readable } from 'node:stream';
import type { Bytes } from '../lib/bytes.ts';
import type { AttemptOutcome } from '../rules/retry-schedule.ts';
import type { Repositories } from '../store/repositories.ts';
import type { Scope } from '../lib/scopes.ts';

/** Who an agent says it is: claimed, not proven. */
export interface AgentIdentity {
  readonly label: string | null;
  readonly platform: string;
  readonly source: 'header' | 'hello' | 'mcp_client_info' | 'user_agent' | 'none';
}

/** A checked key and the circumstances of one call. */
export interface Caller {
  readonly projectId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly agent: AgentIdentity;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
}

export interface ProjectInfo {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** What an operation may know of the server it runs in. */
export interface ServerInfo {
  readonly version: string;
  readonly urls: { readonly api: string; readonly mcp: string; readonly hooks: string };
  /** Base of links to what strangers wrote, where that has an origin of its own. */
  readonly contentUrl?: string;
  /** The kinds of channels there are. */
  readonly channels: readonly string[];
  /** The name of the Telegram bot; null without one, or until Telegram has told it. */
  readonly telegramBot: string | null;
  readonly mail: MailInfo;
}

/** The addresses of projects. */
export interface MailInfo {
  /** Behind the `@` of every project's address; null where no mail comes in. */
  readonly domain: string | null;
  /** From which all mail goes out where it cannot go out from the addresses of projects; else null. */
  readonly from: string | null;
}

/** Secrets in rows. The additional data (table, column, row id) binds each to its place: it opens nowhere else. */
export interface Vault {
  readonly seal: (aad: string, plain: string | Uint8Array) => Uint8Array;
  readonly open: (aad: string, sealed: Uint8Array) => Uint8Array;
  /** A keyed checksum for links, bound to its purpose by the text itself. */
  readonly sign: (text: string) => string;
}

/** Bytes from `start` to `end`, both included, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A blob that stays until `release`, whether a row names it or not. */
export interface PinnedBlob {
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly release: () => void;
}

/**
 * Content-addressed bytes beside the project's database. What is put is durable when the promise resolves. UNAVAILABLE
 * while there is no room.
 */
export interface BlobStore {
  /** `digest` is for a caller who has computed it already; it is believed. What is stored is not written again. */
  put(bytes: Bytes, digest?: string): Promise<PinnedBlob>;
  /** The same, a chunk at a time. Rejects and leaves nothing unless exactly `sizeBytes` come. */
  putStream(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<PinnedBlob>;
  read(digest: string): Promise<Uint8Array>;
  /** Rejects as `read` does where there is no such blob. Whoever does not read to the end destroys the stream. */
  open(digest: string, range?: ByteRange): Promise<Readable>;
}

/** Where and how to send the bytes of an upload. */
export interface UploadAddress {
  readonly url: string;
  /** All of them go with the bytes, letter for letter. */
  readonly headers: Record<string, string>;
}

/** Uploads that clients send to the store of the blobs themselves. */
export interface DirectUploads {
  address(upload: {
    readonly id: string;
    readonly size: number;
    readonly contentType: string;
  }): Promise<UploadAddress>;
  /** Takes in what was sent for an upload; nothing when it is not there or not whole. */
  collect(uploadId: string): Promise<void>;
}

/** An event on its way out: the id and the body are what is signed. */
export interface CallbackMessage {
  readonly url: string;
  /** The newest first; each makes a signature. */
  readonly secrets: readonly string[];
  readonly id: string;
  /** JSON. */
  readonly body: string;
  /** From 1. */
  readonly attempt: number;
}

/** Addresses outside that events are pushed to. */
export interface Callbacks {
  /**
   * Host and port of the address. CALLBACK_URL_REJECTED, with the reason as hint, unless it is https and all its host's
   * addresses are public.
   */
  check(url: string): Promise<{ readonly destination: string }>;
  /** A new signing secret, `whsec_…`. */
  newSecret(): string;
  /** One signed attempt. Whatever the other side does is an outcome. */
  send(message: CallbackMessage): Promise<AttemptOutcome>;
}

interface BaseContext {
  readonly caller: Caller;
  readonly project: ProjectInfo;
  readonly server: ServerInfo;
  readonly vault: Vault;
  /** The time of this call, in milliseconds. One call sees one time. */
  readonly now: number;
}

/** A read: one snapshot of the project. */
export interface ReadContext extends BaseContext {
  readonly store: Repositories;
  /** Of the bytes that a month's transfer counts in the rows: those that are kept for downloads to come. */
  readonly unspentTransfer: (month: string) => number;
}

/** What comes before a transaction. */
export interface PrepareContext extends BaseContext {
  readonly blobs: BlobStore;
  /** Null where uploads come through this server. */
  readonly directUploads: DirectUploads | null;
  readonly callbacks: Callbacks;
  /** One snapshot of the project; `fn` awaits nothing but the store. */
  readonly read: <T>(fn: (store: Repositories) => Promise<T>) => Promise<T>;
  /** Runs when the write has come to its end, whichever that is: for pins. */
  readonly finally: (release: () => void) => void;
}

/** An event that the service writes itself, for the inbox and for callbacks. */
export interface ServiceEvent {
  readonly type: string;
  readonly payload: unknown;
  /** Sent there too, signed with the secret of the project. */
  readonly callback: { readonly url: string; readonly requestId: string } | null;
  /** A destination that routes do not take it to: the one that it tells of, which does not answer. */
  readonly exceptTo?: string;
  /** The key that asked the request whose end this tells. */
  readonly askerKeyId?: string;
  /** Nobody has to work it: unless a route takes it, it comes into the inbox as done. */
  readonly isDone?: boolean;
}

/** What requests, and the people who decide them, need of an open transaction. Await nothing but `store` and `writeEvent`. */
export interface ApprovalContext {
  readonly store: Repositories;
  readonly project: ProjectInfo;
  readonly vault: Vault;
  readonly now: number;
  /** A fresh id such as `key_…`. */
  readonly newId: (prefix: NewIdPrefix) => string;
  /** Records what the service itself did on the way, such as a lease that had run out; with a digest of `about`. */
  readonly recordService: (op: string, subject: string, about?: unknown) => Promise<void>;
  /** The same about an event, with a digest that can be checked without the key of the project. */
  readonly recordOpen: (action: {
    readonly op: string;
    readonly subject: string;
    readonly eventId: string;
    readonly about: unknown;
  }) => Promise<void>;
  /** Writes an event of the service into the inbox, or hands it to the routes that match. */
  readonly writeEvent: (event: ServiceEvent) => Promise<void>;
  /** Tells the rest of the gateway once the commit is durable; forgotten when it fails. */
  readonly emit: (effect: WriteEffect) => void;
}

type NewIdPrefix = 'key' | 'lse' | 'upl' | 'lnk' | 'req' | 'rte' | 'chn' | 'ntc' | 'msg' | 'bat';

/** A write: the open transaction. Await nothing but `store` and `writeEvent`. */
export interface WriteContext extends BaseContext, ApprovalContext {
  readonly project: ProjectInfo;
  readonly vault: Vault;
  readonly now: number;
  readonly store: Repositories;
}

/** What a write changes for the rest of the gateway. Plain data: it may cross to another thread. */
export type WriteEffect =
  | ({ readonly kind: 'event_ready' } & EventReady)
  /** A request was decided, or has expired. */
  | { readonly kind: 'request_ended'; readonly id: string }
  /** Something was written to the disk, or went from it. */
  | { readonly kind: 'disk_changed' }
  /** Events of the inbox were claimed, finished or put back. */
  | { readonly kind: 'inbox_changed' }
  /** There is something to tell people. */
  | { readonly kind: 'notices_due' }
  /** There is mail to send. */
  | { readonly kind: 'mails_due' }
  /** Something falls due at this time. */
  | { readonly kind: 'due'; readonly at: number }
  | { readonly kind: 'sources_changed' }
  | { readonly kind: 'callbacks_changed' }
  /** Something is to be pushed to this destination. */
  | { readonly kind: 'delivery_due'; readonly destination: string }
  | { readonly kind: 'blob_dropped'; readonly digest: string }
  | { readonly kind: 'keys_changed' }
  | { readonly kind: 'key_ended'; readonly keyId: string };

/** What waits wait for. */
export type Change =
  | ({ readonly kind: 'event' } & EventReady)
  /** A request was decided, or has expired. */
  | { readonly kind: 'request'; readonly id: string }
  /** Something was written to the disk, or went from it. */
  | { readonly kind: 'disk' }
  /** Events of the inbox were claimed, finished or put back. */
  | { readonly kind: 'inbox' };

/** An event that became claimable, as waits see it. */
interface EventReady {
  readonly source: string;
  readonly type: string;
}

/** A call that takes its time: it holds no snapshot between its looks at the store. */
export interface LongContext extends BaseContext {
  readonly blobs: BlobStore;
  readonly read: <T>(fn: (store: Repositories) => Promise<T>) => Promise<T>;
  /** Lets other work run, and throws when the caller has gone. */
  breathe(): Promise<void>;
  /**
   * Answers the first non-null `look`, now or after a change that `concerns` it; null at the timeout. `counted` waits are
   * those of inbox_wait, of which a key and a project may have so many (TOO_MANY_WAITS).
   */
  waitFor<T>(wait: {
    look: (store: Repositories, now: number) => Promise<T | null>;
    concerns: (change: Change) => boolean;
    timeoutSeconds: number;
    counted: boolean;
  }): Promise<T | null>;
}

/** A write that waits before its commit. */
export interface SeekContext<C> extends LongContext {
  /** How long the call has taken so far. */
  elapsedSeconds(): number;
  /** Runs the commit, as a transaction of its own at the current time. */
  attempt(): Promise<C>;
}

/** A write that waits for somebody after its commit. */
export interface AfterCommitContext<I, C> extends LongContext {
  /** Runs the commit once more, as a transaction of its own, with another input. */
  again(input: I): Promise<C>;
}
