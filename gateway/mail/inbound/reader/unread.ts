import { webcrypto } from 'node:crypto';
import { written } from './hashed.ts';
import type { MailAuthentication, ReadMail, MailFacts } from '../read-mail.ts';

const WHOLE = { name: 'message.eml', content_type: 'message/rfc822' };

/** The result for a mail whose sender could not be checked. */
export function unverified(
  dkim: MailAuthentication['dkim'],
  dmarc: MailAuthentication['dmarc'],
): MailAuthentication {
  return { dkim, dmarc, spf: 'none', from_domain: null, aligned: false, unsigned: null };
}

/** A mail whose header could not be read either: we keep the mail as it is, and say nothing about it. */
export async function unreadMail(raw: Uint8Array, seen: MailFacts): Promise<ReadMail> {
  // Hashed in Node's thread pool: a large mail would hold up this thread.
  const digest = Buffer.from(await webcrypto.subtle.digest('SHA-256', raw)).toString('hex');
  const size_bytes = seen.sizeBytes;
  const file = { ...WHOLE, content_id: null, inline: false, sha256: digest, bytes: raw };
  return {
    digest,
    size_bytes,
    verified: false,
    ...written({
      message_id: null,
      from: null,
      to: [],
      cc: [],
      reply_to: [],
      subject: '',
      date: null,
      in_reply_to: null,
      references: [],
      text: null,
      text_stripped: null,
      authentication: unverified('temperror', 'temperror'),
      auto_submitted: false,
      incomplete: seen.whole ? 'malformed' : 'too_large',
    }),
    html: null,
    files: seen.whole ? [file] : [],
    blocked: seen.whole ? [] : [{ ...WHOLE, size_bytes, reason: 'too_large' }],
    delivered_to: [],
    addressed_to: [],
    report: null,
  };
}
