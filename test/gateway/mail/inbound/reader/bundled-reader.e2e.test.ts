import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ThreadMailReader } from '../../../../../gateway/mail/inbound/reader/thread-reader.ts';
import { mailOf, NOW } from './signed-mail.ts';

it('the bundled reader of mails runs as a thread of its own', async () => {
  const reader = new ThreadMailReader({
    dnsServers: [],
    entry: pathToFileURL('dist/mail-reader.js'),
  });
  const raw = Buffer.from(mailOf({ From: null }));
  const mail = await reader.read(raw, { now: NOW, whole: true, sizeBytes: raw.length });
  expect(mail.payload.subject).toBe('Invoice 42');
  await reader.close();
});
