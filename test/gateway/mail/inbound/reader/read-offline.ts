import type { ReadMail } from '../../../../../gateway/mail/inbound/read-mail.ts';
import { TxtRecords } from '../../../../../gateway/mail/inbound/reader/dns.ts';
import { parseMail } from '../../../../../gateway/mail/inbound/reader/parse.ts';
import { NOW } from './signed-mail.ts';

/** Nobody answers there; where nothing is signed, it matters to nobody. */
const NOWHERE = ['127.0.0.1:1'];

/** Reads a mail in this thread, for what does not depend on the DNS. Characters of it are bytes. */
export function readOffline(
  mail: string,
  whole = true,
  sizeBytes = mail.length,
): Promise<ReadMail> {
  const records = new TxtRecords(NOWHERE, { tryMs: 1000, mailMs: 1000 });
  return parseMail(Buffer.from(mail, 'latin1'), { now: NOW, whole, sizeBytes }, records);
}
