import type { Readable } from 'node:stream';
import type { Bytes } from '../lib/bytes.ts';
import type { Actor } from '../rules/actor.ts';
import type { SendLimit } from '../rules/mail/send-limit.ts';
import type { IngressLimits } from '../rules/inbox/ingress-limit.ts';
import type { AttemptOutcome } from '../rules/inbox/retry-schedule.ts';
import type { Role } from '../rules/roles.ts';
import type { ArchiveUse } from '../store/log/log-archive.ts';
import type { Repositories } from '../store/repositories.ts';
import type { Scope } from '../lib/scopes.ts';

/** Who an agent says it is: claimed, not proven. */
export interface AgentIdentity {
  readonly label: string | null;
  readonly platform: string;
  readonly source: 'header' | 'hello' | 'mcp_client_info' | 'user_agent' | 'none';
}

/** A checked key and the details of one call. */
export interface Caller {
  readonly projectId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** What the key may see and change of the disk, see `disk-limit.ts`; null for everything. */
  readonly diskPrefixes: readonly string[] | null;
  readonly agent: AgentIdentity;
  readonly requestId: string;
  readonly idempotencyKey: string | null;
  /** The member whose web session this is; absent for a key, even a member's, because an agent may be using it. */
  readonly member?: { readonly id: string; readonly role: Role };
  /** Hash of the secret that was shown: it may be replaced while the call is under way. Absent for a member. */
  readonly secretHash?: string;
}

export interface ProjectInfo {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** What an operation may know about its server. */
export interface ServerInfo {
  readonly version: string;
  readonly urls: { readonly api: string; readonly mcp: string; readonly hooks: string };
  /** The base of links to strangers' content, if it has its own origin. */
  readonly contentUrl?: string;
  /** The available kinds of channels. */
  readonly channels: readonly string[];
  /** The Telegram bot's name; null without a bot, or until Telegram has answered. */
  readonly telegramBot: string | null;
  readonly mail: MailInfo;
  /** People sign in here by mail, so others can join a project. Not so on a local machine. */
  readonly signsIn?: boolean;
  /** How much senders may store (default: no limit). */
  readonly ingress?: IngressLimits;
  /** How much each project may keep of its log for replicas that were away; null goes by the size of its database. */
  readonly replicaLogBytes?: number | null;
}

/** Mail addresses of projects. */
export interface MailInfo {
  /** The domain of project addresses; null if no mail can arrive. */
  readonly domain: string | null;
  /** The sender of all mail if projects can't send from their own addresses, otherwise null. */
  readonly from: string | null;
  /** No mail server is set: mail stays in a folder of the server, where its operator reads it. */
  readonly isKept?: boolean;
}

/**
 * Encrypts secrets in rows. The additional data (table, column, row id) binds each one to its row, so it opens nowhere
 * else.
 */
export interface Vault {
  readonly seal: (aad: string, plain: string | Uint8Array) => Uint8Array;
  readonly open: (aad: string, sealed: Uint8Array) => Uint8Array;
  /** A keyed checksum for links. The text itself states the purpose. */
  readonly sign: (text: string) => string;
}

/** A blob that is kept until `release`, even if no row refers to it. */
export interface PinnedBlob {
  /** SHA-256 in hex. */
  readonly digest: string;
  readonly release: () => void;
}

/**
 * Content-addressed bytes outside the project's database. They are durable once the promise resolves. Throws
 * UNAVAILABLE if there is no room.
 */
export interface BlobStore {
  /** Trusts a `digest` that the caller has already computed. A stored blob isn't written again. */
  put(bytes: Bytes, digest?: string): Promise<PinnedBlob>;
  /** The same in chunks. Rejects and stores nothing unless exactly `sizeBytes` arrive. */
  putStream(chunks: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<PinnedBlob>;
  /** ENOENT if the blob doesn't exist and no row names it; every other failure means that it's damaged or out of reach. */
  read(digest: string): Promise<Uint8Array>;
  /**
   * Rejects as `read` does. The stream fails before its last chunk if the bytes aren't the blob's. A caller that stops
   * early must destroy it.
   */
  open(digest: string): Promise<Readable>;
}

/** Where and how to upload the bytes. */
export interface UploadAddress {
  readonly url: string;
  /** To be sent with the bytes, unchanged. */
  readonly headers: Record<string, string>;
}

/** Uploads that clients send directly to the blob store. */
export interface DirectUploads {
  address(upload: {
    readonly id: string;
    readonly size: number;
    readonly contentType: string;
  }): Promise<UploadAddress>;
  /** Takes over an upload's bytes; does nothing if they're missing or incomplete. */
  collect(uploadId: string): Promise<void>;
}

/** An outgoing event; the signature covers the id and body. */
export interface CallbackMessage {
  readonly url: string;
  /** Newest first; each one adds a signature. */
  readonly secrets: readonly string[];
  readonly id: string;
  /** JSON. */
  readonly body: string;
  /** From 1. */
  readonly attempt: number;
}

/** Pushes events to outside addresses. */
export interface Callbacks {
  /**
   * Returns the address's host and port. Throws CALLBACK_URL_REJECTED, with the reason as its hint, unless it's https
   * and all of the host's addresses are public.
   */
  check(url: string): Promise<{ readonly destination: string }>;
  /** A new signing secret, `whsec_…`. */
  newSecret(): string;
  /** Makes one signed attempt. Anything the receiver does is an outcome, not an error. */
  send(message: CallbackMessage): Promise<AttemptOutcome>;
}

interface BaseContext {
  readonly caller: Caller;
  readonly project: ProjectInfo;
  readonly server: ServerInfo;
  readonly vault: Vault;
  /** The time of this call, in milliseconds; it stays the same throughout. */
  readonly now: number;
}

/** A read, on one snapshot of the project. */
export interface ReadContext extends BaseContext {
  readonly store: Repositories;
  /** How many of the month's counted transfer bytes are only reserved for future downloads. */
  readonly unspentTransfer: (month: string) => number;
  /** The log that is kept for replicas that were away. */
  readonly replicaLog: () => ArchiveUse;
}

/** Messages that count against ceilings over several projects, or the ceiling in the way. */
export type MailReservation = { readonly id: string } | { readonly passed: SendLimit };

/** The work before a transaction. */
export interface PrepareContext extends BaseContext {
  readonly blobs: BlobStore;
  /** Null if uploads go through this server. */
  readonly directUploads: DirectUploads | null;
  readonly callbacks: Callbacks;
  /** Reads one snapshot of the project; `fn` must await nothing but the store. */
  readonly read: <T>(fn: (store: Repositories) => Promise<T>) => Promise<T>;
  /**
   * Counts messages that the write is about to take; they are given back if it doesn't. Null where nothing counts them.
   */
  readonly reserveMail: (messages: number) => Promise<MailReservation | null>;
  /** Runs when the write ends, however it ends: for releasing pins. */
  readonly finally: (release: () => void) => void;
}

/** An event that the service itself writes, for the inbox and callbacks. */
export interface ServiceEvent {
  readonly type: string;
  readonly payload: unknown;
  /** Also pushed there, signed with the project's secret. */
  readonly callback: { readonly url: string; readonly requestId: string } | null;
  /** A destination that must not get it: the one that doesn't answer, which the event is about. */
  readonly exceptTo?: string;
  /** The request whose outcome this is, and the key that made it. */
  readonly outcomeOf?: { readonly requestId: string; readonly keyId: string };
  /** Nobody has to handle it: unless a route takes it, it enters the inbox as done. */
  readonly isDone?: boolean;
}

/** What requests and decisions need from an open transaction. Await nothing but `store` and `writeEvent`. */
export interface ApprovalContext {
  readonly store: Repositories;
  readonly project: ProjectInfo;
  readonly vault: Vault;
  readonly now: number;
  /** A new id such as `key_…`. */
  readonly newId: (prefix: NewIdPrefix) => string;
  /** Adds an entry to the ledger, with a digest of `about`. Whoever runs the transaction did it, unless `by` names another. */
  readonly record: (
    op: string,
    subject: string,
    about?: unknown,
    more?: {
      /** The digest is kept with what opens it under this event: anybody can check it without the project's key. */
      readonly eventId?: string | null;
      /** Who did this part, such as the service that ends an expired lease. */
      readonly by?: Actor | undefined;
    },
  ) => Promise<void>;
  /** Writes a service event into the inbox, or hands it to the matching routes. */
  /** Returns the event's id. */
  readonly writeEvent: (event: ServiceEvent) => Promise<string>;
  /** Reports an effect to the rest of the gateway once the commit is durable; dropped if the commit fails. */
  readonly emit: (effect: WriteEffect) => void;
}

type NewIdPrefix =
  | 'key'
  | 'lse'
  | 'upl'
  | 'lnk'
  | 'req'
  | 'rte'
  | 'chn'
  | 'ntc'
  | 'msg'
  | 'bat'
  | 'thr'
  | 'mbr'
  | 'brw';

/** A write, with its open transaction. Await nothing but `store` and `writeEvent`. */
export interface WriteContext extends BaseContext, ApprovalContext {
  readonly project: ProjectInfo;
  readonly vault: Vault;
  readonly now: number;
  readonly store: Repositories;
}

/** What a write changes for the rest of the gateway. Plain data, because it may go to another thread. */
export type WriteEffect =
  | ({ readonly kind: 'event_ready' } & EventReady)
  /** A request was decided or expired. */
  | { readonly kind: 'request_ended'; readonly id: string }
  /** Something on the disk was written or deleted. */
  | { readonly kind: 'disk_changed' }
  /** Inbox events were claimed, finished or returned. */
  | { readonly kind: 'inbox_changed' }
  /** People must be notified. */
  | { readonly kind: 'notices_due' }
  /** Mail must be sent. */
  | { readonly kind: 'mails_due' }
  /** A write took the messages that were reserved for it. */
  | { readonly kind: 'mail_taken'; readonly id: string }
  /** Messages of this UTC day were cancelled. */
  | { readonly kind: 'mail_returned'; readonly messages: number; readonly day: string }
  /** Something is due at this time. */
  | { readonly kind: 'due'; readonly at: number }
  | { readonly kind: 'sources_changed' }
  | { readonly kind: 'callbacks_changed' }
  /** An event must be pushed to this destination. */
  | { readonly kind: 'delivery_due'; readonly destination: string }
  | { readonly kind: 'blob_dropped'; readonly digest: string }
  /** Somebody joined or left, or has another role, or a chat is or was somebody's channel. */
  | { readonly kind: 'members_changed' }
  /** The project was renamed or deleted. */
  | { readonly kind: 'project_changed' }
  | { readonly kind: 'keys_changed' }
  | { readonly kind: 'key_ended'; readonly keyId: string };

/** The changes that waits can wait for. */
export type Change =
  | ({ readonly kind: 'event' } & EventReady)
  /** A request was decided or expired. */
  | { readonly kind: 'request'; readonly id: string }
  /** Something on the disk was written or deleted. */
  | { readonly kind: 'disk' }
  /** Inbox events were claimed, finished or returned. */
  | { readonly kind: 'inbox' };

/** An event that became claimable. */
interface EventReady {
  readonly source: string;
  readonly type: string;
}

/** A long call, which holds no snapshot between reads. */
export interface LongContext extends BaseContext {
  readonly blobs: BlobStore;
  readonly read: <T>(fn: (store: Repositories) => Promise<T>) => Promise<T>;
  /** Lets other work run; throws if the caller is gone. */
  breathe(): Promise<void>;
  /** Runs work that may take seconds, when no other such work runs for this project. RATE_LIMITED if too much waits. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Returns the first result of `check` that isn't null, now or after a change that `concerns` it; null at the timeout.
   * Waits with `counted` count towards the limits per key and project (TOO_MANY_WAITS), as in inbox_wait.
   */
  waitFor<T>(wait: {
    check: (store: Repositories, now: number) => Promise<T | null>;
    concerns: (change: Change) => boolean;
    timeoutSeconds: number;
    counted: boolean;
  }): Promise<T | null>;
}

/** A write that waits before its commit. */
export interface SeekContext<C> extends LongContext {
  /** How long the call has taken. */
  elapsedSeconds(): number;
  /** Runs the commit in its own transaction, at the current time. */
  attempt(): Promise<C>;
}

/** A write that waits for someone after its commit. */
export interface AfterCommitContext<I, C> extends LongContext {
  /** Runs the commit again with another input, in its own transaction. */
  again(input: I): Promise<C>;
}
