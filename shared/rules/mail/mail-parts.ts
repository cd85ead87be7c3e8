/** An attachment that callers can read as `evt_…/name`. */
interface Attachment {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly content_id: string | null;
  readonly inline: boolean;
  readonly sha256: string;
}

interface BlockedAttachment {
  readonly name: string;
  readonly content_type: string;
  readonly size_bytes: number;
  readonly reason: 'executable' | 'encrypted_archive' | 'too_large' | 'too_many';
}

/** The attachments of a mail and whether it has HTML; stored as JSON in the column that holds a webhook's headers. */
export interface MailParts {
  readonly attachments: Attachment[];
  readonly attachments_blocked: BlockedAttachment[];
  /** Whether the mail has HTML to show. */
  readonly html: boolean;
  /** A hash of From, Date and Subject: tells mails with the same Message-ID apart. Missing in mails of earlier releases. */
  readonly identity?: string;
}

/** Parses the stored parts; they are empty once the payload is purged. */
export function mailParts(stored: string): MailParts {
  const parts = JSON.parse(stored) as Partial<MailParts>;
  const { attachments = [], attachments_blocked = [], html = false } = parts;
  return { attachments, attachments_blocked, html };
}
