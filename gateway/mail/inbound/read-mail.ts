import type { MailReport } from '../../commit/commands/mail/mail-report.ts';
// A mail after checking and parsing. Plain data, because it comes from another thread.

/** An address as in its header; the name may be empty. */
export interface MailAddress {
  readonly address: string;
  readonly name: string;
}

/** Our own results; headers that claim a result are ignored (RFC 8601 section 5). */
export interface MailAuthentication {
  readonly dkim: 'pass' | 'fail' | 'neutral' | 'none' | 'policy' | 'temperror' | 'permerror';
  readonly dmarc: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /** Only the server that the sender connected to could check it. */
  readonly spf: 'none';
  /** The domain of the address in From; null unless there is exactly one. */
  readonly from_domain: string | null;
  /** A DKIM signature that passed is from the domain of From, or from its organization (RFC 7489 section 3.1). */
  readonly aligned: boolean;
  /**
   * What the mail has that no such signature covers, so that anybody could have changed it on the way; `content_type`
   * decides how `text`, the HTML and the attachments are read. Null unless DKIM and DMARC passed: then nothing is proven.
   */
  readonly unsigned: readonly UnsignedPart[] | null;
}

export type UnsignedPart =
  | 'message_id'
  | 'to'
  | 'cc'
  | 'reply_to'
  | 'subject'
  | 'date'
  | 'in_reply_to'
  | 'references'
  | 'content_type';

/**
 * The payload of `email.received`. Dates are ISO 8601 in UTC; ids have their angle brackets. A list of addresses has at
 * most 500 entries, `references` the last 500, the subject 2,000 characters, the text 1,000,000.
 */
export interface MailPayload {
  readonly message_id: string | null;
  readonly from: MailAddress | null;
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  readonly reply_to: readonly MailAddress[];
  readonly subject: string;
  readonly date: string | null;
  readonly in_reply_to: string | null;
  readonly references: readonly string[];
  /** Made from the HTML if the mail has no plain text. */
  readonly text: string | null;
  /** Only the new text, without quoted mails and the signature. */
  readonly text_stripped: string | null;
  readonly authentication: MailAuthentication;
  /** A machine wrote it: an absence notice, a list, a report, or a mail of ours that came back. */
  readonly auto_submitted: boolean;
  /** Why parts are missing; null if the mail is complete. */
  readonly incomplete: 'too_large' | 'too_many_parts' | 'too_deep' | 'malformed' | null;
}

/** An attachment that isn't blocked. Names are unique in a mail, have no `/`, and are safe as the end of a path. */
export interface MailFile {
  readonly name: string;
  readonly content_type: string;
  /** With its angle brackets. */
  readonly content_id: string | null;
  readonly inline: boolean;
  /** SHA-256 in hex. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

export interface BlockedFile {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly reason: 'executable' | 'encrypted_archive' | 'too_large' | 'too_many';
}

/** Bytes to store. */
export interface HashedBytes {
  readonly bytes: Uint8Array;
  /** In hex. */
  readonly sha256: string;
}

/** A checked and parsed mail. */
export interface ReadMail {
  /** SHA-256 of its bytes, in hex. */
  readonly digest: string;
  readonly size_bytes: number;
  /** DKIM and DMARC both passed (spec section 2.1, rule 2). */
  readonly verified: boolean;
  readonly payload: MailPayload;
  /** The same as JSON in UTF-8, made in the reader's thread because that takes time for a large mail. */
  readonly payload_json: HashedBytes;
  /** UTF-8; null if there is no HTML. */
  readonly html: HashedBytes | null;
  readonly files: readonly MailFile[];
  readonly blocked: readonly BlockedFile[];
  /** The recipients of this copy, as our mail servers recorded them at its top: those of each field, from the top. */
  readonly delivered_to: readonly (readonly string[])[];
  /** The recipients that the mail names in To, Cc, Bcc and Resent-To. */
  readonly addressed_to: readonly string[];
  readonly report: MailReport | null;
}

/** What we know about a mail besides its bytes. */
export interface MailFacts {
  readonly now: number;
  /** False if the mail is too large and only its headers were fetched. */
  readonly whole: boolean;
  /** The size of the whole mail. */
  readonly sizeBytes: number;
}

/** Checks and parses mails, off the main thread. */
export interface MailReader {
  /** Never rejects because of a mail's content. Rejects with UNAVAILABLE if it is closed or can't read any mail at all. */
  read(raw: Uint8Array, seen: MailFacts): Promise<ReadMail>;
  close(): Promise<void>;
}
