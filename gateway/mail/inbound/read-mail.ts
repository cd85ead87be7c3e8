import type { MailReport } from '../../lib/mail-report.ts';
// What is known of a mail once its bytes were checked and understood. Plain data: it comes from another thread.

/** An address as its header has it; the name may be empty. */
export interface MailAddress {
  readonly address: string;
  readonly name: string;
}

/** What we found ourselves; headers that claim a result are not looked at (RFC 8601 section 5). */
export interface MailAuthentication {
  readonly dkim: 'pass' | 'fail' | 'neutral' | 'none' | 'policy' | 'temperror' | 'permerror';
  readonly dmarc: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /** Only whoever spoke to the sending server could check it. */
  readonly spf: 'none';
  /** Of the one address in From; null when there is none, or more than one. */
  readonly from_domain: string | null;
  /** A DKIM signature that passed is of the domain of From, or of its organization (RFC 7489 section 3.1). */
  readonly aligned: boolean;
}

/**
 * The payload of `email.received`. Dates are ISO 8601 in UTC; ids have their angle brackets. A list of addresses has at
 * most 500 of them, `references` the last 500, the subject 2,000 characters, the text 1,000,000.
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
  /** Made from the HTML where a mail has nothing else. */
  readonly text: string | null;
  /** What is new in it: without quoted mails and without a signature. */
  readonly text_stripped: string | null;
  readonly authentication: MailAuthentication;
  /** A machine wrote it: an absence notice, a list, a report, or something of ours that came back. */
  readonly auto_submitted: boolean;
  /** Why parts of it are missing; null when it is whole. */
  readonly incomplete: 'too_large' | 'too_many_parts' | 'too_deep' | 'malformed' | null;
}

/** An attachment that may be read. Names are unique in a mail, have no `/`, and are safe as the end of a path. */
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

/** Bytes to be kept. */
export interface HashedBytes {
  readonly bytes: Uint8Array;
  /** In hex. */
  readonly sha256: string;
}

/** A mail, checked and understood. */
export interface ReadMail {
  /** SHA-256 of its bytes, in hex. */
  readonly digest: string;
  readonly size_bytes: number;
  /** DKIM and DMARC both passed (spec section 2.1, rule 2). */
  readonly verified: boolean;
  readonly payload: MailPayload;
  /** The same as JSON in UTF-8: written where mails are read, as that of a large one takes time. */
  readonly payload_json: HashedBytes;
  /** UTF-8; null where there is none. */
  readonly html: HashedBytes | null;
  readonly files: readonly MailFile[];
  readonly blocked: readonly BlockedFile[];
  /** Whom this copy was delivered to, as the servers on our side noted it: the topmost of each trace header, from the top. */
  readonly delivered_to: readonly string[];
  /** Whom the mail names in To, Cc and Bcc. */
  readonly addressed_to: readonly string[];
  readonly report: MailReport | null;
}

/** What is known of a mail besides its bytes. */
export interface Seen {
  readonly now: number;
  /** False where only the beginning of it, with its headers, was fetched because it is too large. */
  readonly whole: boolean;
  /** Of all of it. */
  readonly sizeBytes: number;
}

/** Checks and understands mails, away from the thread that serves. */
export interface MailReader {
  /**
   * Never rejects for what is in a mail. Rejects with UNAVAILABLE when it is closed, or cannot read any mail at all.
   */
  read(raw: Uint8Array, seen: Seen): Promise<ReadMail>;
  close(): Promise<void>;
}
