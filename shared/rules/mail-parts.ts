/** An attachment that can be read as `evt_…/name`. */
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

/** What came with a mail; kept as JSON where the headers of a webhook are. */
export interface MailParts {
  readonly attachments: Attachment[];
  readonly attachments_blocked: BlockedAttachment[];
  /** Whether there is HTML to be shown. */
  readonly html: boolean;
}

/** The parts as they are stored; none once the payload was purged. */
export function mailParts(stored: string): MailParts {
  const parts = JSON.parse(stored) as Partial<MailParts>;
  const { attachments = [], attachments_blocked = [], html = false } = parts;
  return { attachments, attachments_blocked, html };
}
