import type { ReadMail, Seen } from '../read-mail.ts';

/** What the thread is started with. */
export interface ReaderData {
  readonly dnsServers: readonly string[];
}

/** What is asked of it. */
export interface ReadRequest {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly seen: Seen;
  /** Its header alone, as all of it did harm. */
  readonly headerOnly: boolean;
}

/** What it says. `failed` is a fault of ours, met in that mail. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly id: number; readonly mail: ReadMail }
  | { readonly kind: 'failed'; readonly id: number };
