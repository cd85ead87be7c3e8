import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refused } from '../../approvals/people.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { TestSending, fieldsOf } from './sending.ts';

const KB = 1024;

let mail: TestSending;
beforeAll(async () => {
  mail = await TestSending.start();
  await mail.allowAll();
});
afterAll(() => mail.stop());

const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `a${index}@example.com`);

/** What `email_send` says of a bad field: nothing is asked for then. */
async function complaintOf(body: Record<string, unknown>): Promise<string[]> {
  const answer = await mail.send(body);
  expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED'));
  return fieldsOf(answer.body);
}

describe('the recipients of a mail', () => {
  it.each([
    'ana',
    'ana@',
    '@example.com',
    'Ana <ana@example.com>',
    '<ana@example.com>',
    'ana@example.com, bo@example.com',
    'ana@example.com;bo@example.com',
    'ana@example.com\r\nBcc: bo@example.com',
    'ana@example.com\n',
    'ana@example.com\0',
    'ana@@example.com',
    '"ana b"@example.com',
    'ana(comment)@example.com',
    'änä@example.com',
    'ana@exämple.com',
    'аna@example.com',
    ' ana@example.com',
    'ana@example..com',
    '.ana@example.com',
    'ana@[127.0.0.1]',
    `${'a'.repeat(65)}@example.com`,
    `ana@${'a'.repeat(260)}.com`,
    '',
    7,
    null,
  ])('are plain addresses: not %j', async (bad) => {
    expect(await complaintOf({ to: ['bo@example.com', bad, 'cy@example.com'] })).toEqual(['to[1]']);
  });

  it('are named wherever they are wrong, all at once', async () => {
    const to = ['ana@example.com', 'x', 'ANA@Example.com', 'y z@example.com'];
    expect(await complaintOf({ to })).toEqual(['to[1]', 'to[3]', 'to[2]']);
  });

  it('are from 1 to 50, each once', async () => {
    expect(await complaintOf({ to: [] })).toEqual(['to']);
    expect(await complaintOf({ to: addresses(51) })).toEqual(['to']);
    expect(await complaintOf({ to: 'ana@example.com' })).toEqual(['to']);
    expect(await complaintOf({ to: undefined })).toEqual(['to']);
    const twice = ['ana@example.com', 'bo@example.com', 'Ana@EXAMPLE.com'];
    expect(await complaintOf({ to: twice })).toEqual(['to[2]']);
  });

  it('are not the project itself', async () => {
    const [user, domain] = mail.address.split('@');
    const own = [mail.address, mail.address.toUpperCase(), `${user}+anything.else@${domain}`];
    for (const address of own) {
      expect(await complaintOf({ to: ['ana@example.com', address] })).toEqual(['to[1]']);
    }
  });
});

describe('the words of a mail', () => {
  it.each([
    { subject: '' },
    { subject: 'a'.repeat(256) },
    { subject: 'Hello\r\nBcc: bo@example.com' },
    { subject: 'Hello\n' },
    { subject: 'a\0b' },
    { subject: 'a\u0085b' },
    { subject: '\ud800' },
    { text: '' },
    { text: 'a\0b' },
    { text: 'a\u001bb' },
    { text: '\udc00' },
    { text: 'a'.repeat(256 * KB + 1) },
    { text: 'ü'.repeat(128 * KB + 1) },
    { html: '' },
    { html: 'a'.repeat(256 * KB + 1) },
    { html: 'ü'.repeat(128 * KB + 1) },
    { html: 7 },
    { reply_to_inbox: 'yes' },
    { wait_seconds: 121 },
    { wait_seconds: -1 },
    { wait_seconds: 1.5 },
    { attachments: ['a/../b'] },
  ])('are checked (%#)', async (bad) => {
    const [field = ''] = Object.keys(bad);
    const path = field === 'attachments' ? 'attachments[0]' : field;
    expect(await complaintOf(bad)).toEqual([path]);
  });

  it('may be as long as they may be, however they are written in JSON', async () => {
    const subject = 'ß'.repeat(255);
    const text = 'ü'.repeat(128 * KB);
    const html = 'é'.repeat(128 * KB);
    const body = { to: ['ana@example.com'], subject, text, html, wait_seconds: 0 };
    const ascii = JSON.stringify(body).replaceAll(
      /[^\0-~]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    const response = await fetch(`${mail.gateway.url}/v1/emails`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${mail.gateway.apiKey}`,
        'content-type': 'application/json',
      },
      body: ascii,
    });
    expect(response.status).toBe(202);
    const { batch_id: id } = (await response.json()) as { batch_id: string };
    expect(await mail.ended(id)).toMatchObject([{ status: 'sent' }]);
  });

  it('are named where they are not known', async () => {
    const answer = await mail.send({ reply_to: 'bo@example.com' });
    expect(answer).toMatchObject(refused(400, 'VALIDATION_FAILED'));
    expect(JSON.stringify(answer.body)).toContain('reply_to');
  });
});

describe('the attachments of a mail', () => {
  it('are files that are there', async () => {
    await mail.file('a.txt', 'one');
    const attachments = ['a.txt', 'disk://b.txt', 'evt_00000000000000000000000000/x.pdf'];
    expect(await complaintOf({ attachments })).toEqual(['attachments[1]', 'attachments[2]']);
  });

  it('are at most ten, of 10 MB in total', async () => {
    const disk = await TestDisk.of(mail.gateway, () => mail.clock.now());
    await disk.addFile('half.bin', Buffer.alloc(5 * KB * KB, 1));
    await disk.addFile('more.bin', Buffer.alloc(5 * KB * KB + 1, 2));
    expect(await complaintOf({ attachments: Array(11).fill('half.bin') })).toEqual(['attachments']);
    const answer = await mail.send({ attachments: ['half.bin', 'more.bin'] });
    expect(answer).toMatchObject(
      refused(400, 'VALIDATION_FAILED', {
        fields: [
          {
            path: 'attachments',
            message:
              'The attachments total 10485761 bytes; the limit is 10485760 (10 MB) per mail.',
          },
        ],
      }),
    );
    const id = await mail.sent({ attachments: ['half.bin', 'disk://half.bin'] });
    expect(await mail.ended(id)).toMatchObject([{ status: 'sent' }]);
  });
});

describe('a bad field', () => {
  const event = 'evt_00000000000000000000000000';

  it.each([
    ['to', 'Name at least one address.', []],
    ['to', 'At most 50 a call.', addresses(51)],
    ['attachments', 'At most 10 files.', Array<string>(11).fill('a.txt')],
    [
      'attachments[0]',
      "The project's disk has no such file. Save it first with file_put.",
      ['here.txt'],
    ],
    [
      'attachments[0]',
      "This mail has no such attachment, or the service didn't keep it.",
      [`disk://${event}/run.exe`],
    ],
  ])('%s says what would do: %s', async (path, message, value) => {
    const answer = await mail.send({ [path.replace('[0]', '')]: value });
    expect(answer).toMatchObject(
      refused(400, 'VALIDATION_FAILED', { fields: [{ path, message }] }),
    );
  });
});

describe('a refused call', () => {
  it('takes no room and sends nothing', async () => {
    const before = await mail.asked();
    await complaintOf({ to: ['x'] });
    await complaintOf({ attachments: ['nowhere'] });
    expect(await mail.asked()).toBe(before);
  });
});
