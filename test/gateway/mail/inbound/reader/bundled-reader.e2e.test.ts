import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ThreadMailReader } from '../../../../../gateway/mail/inbound/reader/thread-reader.ts';
import { mailOf, NOW } from './signed-mail.ts';

it('the bundled reader of mails runs as a thread of its own', async () => {
  const reader = new ThreadMailReader({
    dnsServers: [],
    entry: pathToFileURL('dist/mail-reader.js'),
  });
  const type = { 'Content-Type': 'text/plain; charset=us-ascii' };
  const raw = Buffer.from(mailOf({ From: null, ...type }, 'café'));
  const mail = await reader.read(raw, { now: NOW, whole: true, sizeBytes: raw.length });
  expect(mail.payload).toMatchObject({ subject: 'Invoice 42', text: 'café\n' });
  await reader.close();
});
