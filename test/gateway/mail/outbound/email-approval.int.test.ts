import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { TestPeople } from '../../approvals/people.ts';
import { writerOf } from '../../../helpers/writers.ts';
import { TestSending } from './sending.ts';

const DAY = 86_400_000;

let mail: TestSending;
let people: TestPeople;
beforeEach(async () => {
  mail = await TestSending.start();
  people = await TestPeople.of(mail.gateway, mail.clock);
});
afterEach(() => mail.stop());

/** What a person is shown of a mail. */
async function details(body: Record<string, unknown>): Promise<string> {
  const answer = await mail.send(body);
  const row = await mail.project.store.read((store) =>
    store.requests.find(answer.body.request_id ?? ''),
  );
  return row?.details ?? '';
}

const note = (fn: Parameters<ReturnType<typeof writerOf>['write']>[0]) =>
  writerOf(mail.project).write(fn);

const NOW = '2026-01-01T00:00:00.000Z';

describe('what a person is shown of a mail', () => {
  it('is all that matters, with recipients that are new here', async () => {
    await mail.file('reports/may.txt', 'The report.');
    await note(async ({ emailAddresses }) => {
      await emailAddresses.noteSent('Known@example.com', NOW);
      await emailAddresses.noteReceived('writer@example.com', NOW);
      await emailAddresses.noteReceived('both@example.com', NOW);
      await emailAddresses.noteSent('both@example.com', NOW);
      await emailAddresses.suppress('gone@example.com', 'bounce', NOW);
      await emailAddresses.suppress('angry@example.com', 'complaint', NOW);
    });
    const to = ['known', 'new', 'writer', 'both', 'gone', 'angry'].map(
      (name) => `${name}@example.com`,
    );
    const attachments = ['reports/may.txt'];
    expect(await details({ to, subject: 'The report', text: 'Hi.\nBye.', attachments })).toBe(
      [
        `From: ${mail.address}`,
        'To 6 recipients, one message each:',
        '  known@example.com',
        '  new@example.com  (NEW: never written to before)',
        '  writer@example.com  (NEW: never written to; known only from mail that came in)',
        '  both@example.com',
        '  gone@example.com  (bounced before: nothing will be sent)',
        '  angry@example.com  (complained before: nothing will be sent)',
        'Subject: The report',
        'Attachments:',
        '  reports/may.txt (11 bytes)',
        '',
        'Hi.\nBye.',
      ].join('\n'),
    );
  });

  it('knows a recipient once something was sent there', async () => {
    const first = await mail.send();
    await people.decide(first.body.request_id ?? '', { verb: 'approve' });
    await mail.ended(first.body.batch_id);
    expect(await details({ text: 'Again.' })).toContain('To:\n  ana@example.com\nSubject');
  });

  it('begins with a line that names some', async () => {
    const to = ['ana@example.com', 'bo@example.com', 'cy@example.com', 'dee@example.com'];
    const { body } = await mail.send({ to, subject: '😀'.repeat(127) });
    const { summary } = (await people.status(body.request_id ?? '')) as unknown as {
      summary: string;
    };
    expect(summary).toBe(
      `Send "${'😀'.repeat(120)}…" to ana@example.com, bo@example.com and 2 more`,
    );
    const long = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`;
    const other = await mail.send({ to: [long, 'ana@example.com'] });
    expect(await people.status(other.body.request_id ?? '')).toMatchObject({
      summary: 'Send "Hello" to 2 long addresses',
    });
  });

  it('is the beginning of a long text', async () => {
    const shown = await details({ text: `${'😀'.repeat(1000)}rest` });
    expect(shown.endsWith(`\n\n${'😀'.repeat(1000)}…`)).toBe(true);
    expect(await details({ text: 'a'.repeat(1000) })).toMatch(/\n\na{1000}$/);
  });

  it('is what the HTML says, which most readers see instead', async () => {
    const html =
      '<html><p title="x">Pay</p><!-- no --> now, 1 < 2 and <b>that</b>\n is all.</html>';
    expect(await details({ text: 'Nothing.', html })).toMatch(
      new RegExp(
        `\\n\\nNothing\\.\\n\\nMost readers will see its HTML instead \\(${html.length} characters\\), which says:\\nPay now, 1 < 2 and that is all\\.$`,
      ),
    );
    const long = await details({ html: `<p>${'ab '.repeat(400)}` });
    expect(long.split('\n').at(-1)).toBe(`${'ab '.repeat(166)}ab…`);
    // Nothing can be read of it that far: it is not silent about that.
    const hidden = await details({ html: `<a ${'x'.repeat(30_000)}>Pay</a>` });
    expect(hidden.split('\n').at(-1)).toBe('…');
  });
});

/** What a person is warned of, on the page and in the message. */
const warnings = async (body: Record<string, unknown>): Promise<readonly string[]> => {
  const asked = await mail.send(body);
  const token = await people.link(asked.body.request_id ?? '');
  return (await mail.gateway.gateway.approvals.open(token))?.request.warnings ?? [];
};

describe('what a person is warned of', () => {
  it('is whom nobody here has written to, and HTML, in words that no agent wrote', async () => {
    await note(async ({ emailAddresses }) => {
      await emailAddresses.noteSent('known@example.com', NOW);
      await emailAddresses.noteReceived('writer@example.com', NOW);
    });
    const to = ['known', 'new', 'writer', 'other'].map((name) => `${name}@example.com`);
    expect(await warnings({ to, html: '<p>Hi.' })).toEqual([
      'Never written to before: new@example.com, other@example.com',
      'Known only from mail that came in: writer@example.com',
      'Most readers will be shown the HTML of this mail, not its text.',
    ]);
    const many = Array.from({ length: 7 }, (_, index) => `a${index}@example.com`);
    expect(await warnings({ to: many })).toEqual([
      'Never written to before: a0@example.com, a1@example.com, a2@example.com, a3@example.com, a4@example.com and 2 more',
    ]);
  });

  it('is nothing where there is nothing', async () => {
    await note(({ emailAddresses }) => emailAddresses.noteSent('ana@example.com', NOW));
    expect(await warnings({})).toEqual([]);
  });
});

describe('an attachment that was approved', () => {
  it('is sent as it was, whatever became of the file', async () => {
    await mail.file('a.txt', 'as it was approved');
    await mail.file('b.txt', 'and this');
    const asked = await mail.send({ attachments: ['a.txt', 'disk://b.txt'] });
    await mail.file('a.txt', 'something else');
    await mail.gateway.call('DELETE', '/v1/files/b.txt');
    await people.decide(asked.body.request_id ?? '', { verb: 'approve' });
    await mail.ended(asked.body.batch_id);
    const [sent = ''] = mail.outbox();
    const parts = [...sent.matchAll(/filename=(\S+)[\s\S]*?\r\n\r\n([A-Za-z0-9+/=]+)/g)];
    expect(
      parts.map(([, name, body]) => [name, Buffer.from(body ?? '', 'base64').toString()]),
    ).toEqual([
      ['a.txt', 'as it was approved'],
      ['b.txt', 'and this'],
    ]);
    // With another content it is another question.
    const again = await mail.send({ attachments: ['a.txt'] });
    expect(again.body.request_id).not.toBe(asked.body.request_id);
  });

  it.each(['approve', 'deny'] as const)(
    'is kept for as long as what was in mails, and no longer (%s)',
    async (verb) => {
      const disk = await TestDisk.of(mail.gateway, () => mail.clock.now());
      await mail.file('a.txt', 'one');
      const { body } = await mail.send({
        text: 'Secret words.',
        html: '<p>Secret.',
        attachments: ['a.txt', 'a.txt'],
      });
      await mail.gateway.call('DELETE', '/v1/files/a.txt');
      await people.decide(body.request_id ?? '', { verb });
      await mail.ended(body.batch_id);
      const stored = () =>
        mail.project.store.read((store) => store.emails.findBatch(body.batch_id));
      mail.clock.advance(30 * DAY - 1);
      await mail.maintenance();
      expect(await stored()).toMatchObject({ text: 'Secret words.', html: '<p>Secret.' });
      expect(disk.blobFiles()).toHaveLength(1);
      mail.clock.advance(1);
      await mail.maintenance();
      expect(await stored()).toMatchObject({
        text: null,
        html: null,
        attachments: '[]',
        forget_at: null,
      });
      await expect.poll(() => disk.blobFiles()).toEqual([]);
      // Who was sent something, and what became of it, stays.
      expect(await mail.status(body.batch_id)).toMatchObject({
        subject: 'Hello',
        messages: [{ to: 'ana@example.com', status: verb === 'approve' ? 'sent' : 'cancelled' }],
      });
    },
  );
});

describe('what was in a mail, after 30 days', () => {
  it('is nowhere in the files of the project', async () => {
    await mail.allowAll();
    const words = ['forget-me-not-in-text', 'forget-me-not-in-html', 'forget-me-not-in-file'];
    const [text, html, content = ''] = words;
    await mail.file('a.txt', content);
    await mail.ended(await mail.sent({ text, html, attachments: ['a.txt'] }));
    await mail.gateway.call('DELETE', '/v1/files/a.txt');
    const folder = join(mail.gateway.folder, 'projects', mail.gateway.projectId);
    const found = (): string[] => {
      const files = readdirSync(folder, { recursive: true, withFileTypes: true });
      const all = files
        .filter((one) => one.isFile())
        .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'));
      return words.filter((word) => all.some((bytes) => bytes.includes(word)));
    };
    // What is looked for would be found.
    expect(found()).toEqual(words);
    mail.clock.advance(30 * DAY);
    await mail.maintenance();
    await expect.poll(found).toEqual([]);
  });
});

describe('a mail whose content is gone before it could be sent', () => {
  it('is not sent empty', async () => {
    const id = await mail.sent();
    await note(async ({ emails }) => {
      await emails.forget(id);
      await emails.queue(id, mail.clock.now());
    });
    await mail.maintenance();
    expect(await mail.ended(id)).toMatchObject([{ status: 'failed', error: { code: 'gave_up' } }]);
    expect(mail.outbox()).toEqual([]);
  });
});
