import type { Event, Operations } from '../../clients/typescript/generated/types.ts';

/** The name of an operation, such as `inbox_claim`. */
export type OperationName = keyof Operations;

/** What an operation takes. */
export type Input<N extends OperationName> = Operations[N]['input'];

const REQUEST_LATER = [
  'approvals',
  'bind',
  'event_id',
  'reason',
  'reply_to_event',
  'warnings',
] as const;
const SOURCE_LATER = ['limited', 'maker', 'previous_secret_valid_until', 'repeated_24h'] as const;

/** Fields of answers, or of their items, that a server of an earlier release doesn't send. */
export const LATER_FIELDS = {
  key_list: ['client', 'disk_prefixes'],
  key_revoke: ['ended', 'left'],
  request_list: REQUEST_LATER,
  request_status: REQUEST_LATER,
  route_list: ['maker'],
  source_get: SOURCE_LATER,
  source_list: SOURCE_LATER,
  source_sign: ['body_base64'],
  usage: ['emails', 'events', 'replica_log'],
  whoami: ['server'],
} as const satisfies Partial<Readonly<Record<OperationName, readonly string[]>>>;

type LaterFields = typeof LATER_FIELDS;

/** What an operation answers. */
export type Answer<N extends OperationName> = N extends keyof LaterFields
  ? Older<Operations[N]['answer'], LaterFields[N][number]>
  : Operations[N]['answer'];

type Older<T, K> = T extends { readonly items: readonly (infer I)[] }
  ? Omit<T, 'items'> & { readonly items: readonly Lacking<I, K>[] }
  : Lacking<T, K>;

type Lacking<T, K> = Omit<T, Extract<K, keyof T>> & Partial<Pick<T, Extract<K, keyof T>>>;

/** A request's whole record. */
export type Request = Answer<'request_status'>;

/** An event, as any operation of the inbox answers it; a claimed one has a lease. */
export interface InboxEvent extends Omit<Event, 'reason'> {
  readonly reason?: string | null | undefined;
  readonly lease_id?: string;
}
