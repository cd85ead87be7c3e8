import { domainOf, isMailAddress } from '../../shared/rules/mail-address.ts';
import type { OutgoingMail } from './mailer.ts';

/** A mail as it travels. */
export interface ComposedMail {
  /** With its angle brackets. */
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  /** RFC 5322 in bytes, every line ended by CR LF, and nothing in it but ASCII. */
  readonly raw: Buffer;
}

const MAIL_ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * The bytes of a mail, the same for a server and for a folder but for the date. It says of itself that a machine wrote it,
 * so that no absence notice answers it. Throws TypeError for an id or an address that is none.
 */
export async function composeMail(mail: OutgoingMail, now: number): Promise<ComposedMail> {
  const { id, from, to, subject, text } = mail;
  if (!MAIL_ID.test(id)) throw new TypeError('Not the id of a mail.');
  if (!isMailAddress(from) || !isMailAddress(to)) throw new TypeError('Not a mail address.');
  const messageId = `<${id}@${domainOf(from)}>`;
  // Loaded with the first mail: most processes never send one.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const composer = new MailComposer({
    messageId,
    // As objects they are taken as they are; a text would be parsed as a list.
    from: { name: '', address: from },
    to: { name: '', address: to },
    subject: withoutEncodedWords(subject),
    // A line end of another kind could end a mail where a server reads it as one.
    text: text.replace(/\r\n?/g, '\n'),
    date: new Date(now),
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { messageId, from, to, raw: await composer.compile().build() };
}

/** An encoded word that came with the text would be sent as it is, and decoded by whoever reads it: into anything. */
function withoutEncodedWords(text: string): string {
  return text.replaceAll('=?', '= ?');
}
