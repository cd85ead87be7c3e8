import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readOffline } from './read-offline.ts';
import { mailOf } from './signed-mail.ts';

interface Part {
  readonly fields: readonly string[];
  readonly body: string;
}

function mixed(parts: readonly Part[], type = 'mixed'): string {
  const body = parts.map(
    ({ fields, body: text }) => `--b\r\n${fields.join('\r\n')}\r\n\r\n${text}\r\n`,
  );
  const fields = { From: null, 'Content-Type': `multipart/${type}; boundary=b` };
  return mailOf(fields, `${body.join('')}--b--\r\n`);
}

function file(name: string, content: string, type = 'application/octet-stream'): Part {
  return {
    fields: [
      `Content-Type: ${type}`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
    ],
    body: Buffer.from(content, 'latin1').toString('base64'),
  };
}

describe('the attachments of a mail', () => {
  it('are decoded, named and digested', async () => {
    const { files, blocked } = await readOffline(
      mixed([file('a.pdf', '%PDF', 'Application/PDF'), file('a.pdf', 'other', 'no type')]),
    );
    expect(blocked).toEqual([]);
    expect(
      files.map(({ bytes, ...known }) => ({ ...known, text: Buffer.from(bytes).toString() })),
    ).toEqual([
      {
        name: 'a.pdf',
        content_type: 'application/pdf',
        content_id: null,
        inline: false,
        sha256: createHash('sha256').update('%PDF').digest('hex'),
        text: '%PDF',
      },
      {
        name: 'a-2.pdf',
        content_type: 'application/octet-stream',
        content_id: null,
        inline: false,
        sha256: createHash('sha256').update('other').digest('hex'),
        text: 'other',
      },
    ]);
  });

  it('may be shown within the text', async () => {
    const image = { fields: ['Content-Type: image/png', 'Content-ID: <logo@x>'], body: 'png' };
    const html = { fields: ['Content-Type: text/html'], body: '<img src="cid:logo@x">' };
    const { files } = await readOffline(mixed([html, image], 'related'));
    expect(files).toMatchObject([
      { name: 'attachment-1.bin', content_type: 'image/png', content_id: '<logo@x>', inline: true },
    ]);
  });

  it('may be mails, which are not opened', async () => {
    const inner = {
      fields: ['Content-Type: message/rfc822'],
      body: 'Subject: inner\r\n\r\nsecret',
    };
    const { files, payload } = await readOffline(mixed([inner]));
    expect(files).toMatchObject([{ name: 'attachment-1.eml', content_type: 'message/rfc822' }]);
    expect(payload).toMatchObject({ text: null, incomplete: null });
  });

  it('are named but not handed on where they would do harm', async () => {
    const { files, blocked } = await readOffline(
      mixed([file('a.exe', 'x'), file('b.txt', 'MZ\x90'), file('c.txt', 'text')]),
    );
    expect(files.map(({ name }) => name)).toEqual(['c.txt']);
    expect(blocked).toEqual([
      {
        name: 'a.exe',
        content_type: 'application/octet-stream',
        size_bytes: 1,
        reason: 'executable',
      },
      {
        name: 'b.txt',
        content_type: 'application/octet-stream',
        size_bytes: 3,
        reason: 'executable',
      },
    ]);
  });

  it('are a hundred, and no more', async () => {
    const many = Array.from({ length: 102 }, (_, index) => file(`${index}.txt`, 'x'));
    const { files, blocked } = await readOffline(mixed(many));
    expect(files).toHaveLength(100);
    expect(blocked.map(({ name, reason }) => ({ name, reason }))).toEqual([
      { name: '100.txt', reason: 'too_many' },
      { name: '101.txt', reason: 'too_many' },
    ]);
  });

  it('are all in the mail itself where none is found', async () => {
    const mail = mailOf(
      { From: null, 'Content-Type': 'multipart/mixed; boundary=b' },
      '--c\r\n\r\nx',
    );
    const { payload, files } = await readOffline(mail);
    expect(payload).toMatchObject({ subject: 'Invoice 42', incomplete: 'malformed' });
    expect(files.map(({ name }) => name)).toEqual(['message.eml']);
  });
});
