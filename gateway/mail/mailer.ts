import type { Sent } from '../people/desk.ts';

/** A mail of ours to one person: plain text, whole. */
export interface OutgoingMail {
  /** The same at every attempt; letters, digits, `_` and `-`. The Message-ID is made of it. */
  readonly id: string;
  /** Plain addresses `local@domain`. */
  readonly from: string;
  readonly to: string;
  /** One line. */
  readonly subject: string;
  readonly text: string;
}

/** Where mail goes: to a mail server, or into a folder. */
export interface Mailer {
  /** Hands a mail on and says how it fared, whatever happens: it does not reject. `messageId` is the Message-ID. */
  send(mail: OutgoingMail): Promise<Sent>;
  /** Lets what is under way end, for a short while, and takes nothing more. */
  close(): Promise<void>;
}

/** Not now, for a reason that is told in one sentence. */
export function later(reason: string): Sent {
  return { outcome: 'later', retryAfterSeconds: null, reason };
}
