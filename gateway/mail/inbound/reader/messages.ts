import type { ReadMail, MailFacts } from '../read-mail.ts';

/** What the thread is started with. */
export interface ReaderData {
  readonly dnsServers: readonly string[];
}

/** A request to the thread. */
export interface ReadRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly seen: MailFacts;
  /** Read only the header, because reading the whole mail failed. */
  readonly headerOnly: boolean;
}

/** A message from the thread. `failed` is a bug of ours that this mail hit. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly id: number; readonly mail: ReadMail }
  | { readonly kind: 'failed'; readonly id: number };
