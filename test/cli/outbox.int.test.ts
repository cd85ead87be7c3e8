import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { MailCarrier } from '../../gateway/mail/mail-carrier.ts';
import type { OutgoingMail } from '../../gateway/mail/mailer.ts';
import { OutboxMailer } from '../../gateway/mail/outbox-mailer.ts';
import { opened, NOW } from '../gateway/mail/samples.ts';
import { TextSink } from './fake-output.ts';

let folder: string;
let outbox: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-cli-outbox-'));
  outbox = join(folder, 'data', 'outbox');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function svc(line: string, isTTY = false, env: NodeJS.ProcessEnv = {}) {
  const [stdout, stderr] = [new TextSink(isTTY, 120), new TextSink()];
  const around = { env: { SVC_HOME: folder, NO_COLOR: '1', ...env }, stdout, stderr };
  const code = await run(line.split(' '), { ...around, signal: new AbortController().signal });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** NotificationQueue as the daemon writes them, a second apart. */
async function write(
  messages: readonly { id: string; kind?: 'ask' | 'tell'; summary?: string; details?: string }[],
): Promise<void> {
  for (const [index, { id, kind = 'ask', ...given }] of messages.entries()) {
    const clock = { now: () => NOW + index * 1000 };
    const mailer = new OutboxMailer({ folder: outbox, clock });
    const carrier = new MailCarrier(mailer, { publicUrl: 'http://127.0.0.1:4780' });
    const message =
      kind === 'ask'
        ? ({ kind, opened: opened(given), token: `t0ken${index}` } as const)
        : ({ kind, opened: opened(given) } as const);
    await carrier.send(message, { address: 'ann@example.com', id });
  }
}

/** A mail of an agent as the daemon writes it, later than the messages. */
async function writeMail(given: Partial<OutgoingMail> = {}): Promise<void> {
  const clock = { now: () => NOW + 60_000 };
  const mail = { from: 'shop@localhost', fromName: 'Shop', to: 'bo@example.com', ...given };
  const plain = { id: 'msg_1', subject: 'Your report', text: 'See attached.\n', ...mail };
  await new OutboxMailer({ folder: outbox, clock }).send(plain);
}

/** A desktop whose opener writes down what it is given. */
function desktop(body: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { PATH: `${bin}:/usr/bin:/bin`, DISPLAY: ':9', SEEN: join(folder, 'seen') };
}

describe('an empty outbox', () => {
  it('says why messages would be here', async () => {
    const { code, stdout, stderr } = await svc('outbox list', true);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      'The local outbox is empty.\nWithout SVC_SMTP_URL the daemon saves mail here instead of sending it.\n',
    );
    expect(await svc('outbox list')).toEqual({ code: 0, stdout: '{"items":[]}\n', stderr: '' });
  });

  it.each(['outbox show', 'outbox open', 'outbox show latest'])(
    'has nothing to %s',
    async (line) => {
      const { code, stdout, stderr } = await svc(line);
      expect([code, stdout]).toEqual([3, '']);
      expect(stderr).toMatch(/^NOT_FOUND: The local outbox is empty\.\nWithout SVC_SMTP_URL/);
    },
  );

  it.each(['a profile', 'a variable'])('sends to the gateway that %s names', async (where) => {
    const acme = { gateway: 'https://gw.example', api_key: 'svc_live_1', project: 'prj_1' };
    const stored = JSON.stringify({ profiles: { acme }, current: 'acme' });
    if (where === 'a profile') writeFileSync(join(folder, 'credentials.json'), stored);
    const env = where === 'a profile' ? {} : { SVC_GATEWAY: 'https://gw.example' };
    const list = await svc('outbox list', true, env);
    expect(list.stdout).toBe(
      "The local outbox is empty.\nThis project's gateway sends its mail. A gateway without a mail server saves it on its own host: svc gateway outbox shows it there.\n",
    );
    const open = await svc('outbox open', true, env);
    expect([open.code, open.stderr]).toEqual([
      3,
      expect.stringContaining('gateway sends its mail'),
    ]);
    expect(open.stderr).not.toContain('SVC_SMTP_URL');
  });
});

describe('svc outbox list', () => {
  it('shows the newest first', async () => {
    await write([
      { id: 'ntc_b', summary: 'First' },
      { id: 'ntc_a', summary: 'Zweitens: größer' },
    ]);
    const { stdout } = await svc('outbox list');
    expect(JSON.parse(stdout)).toEqual({
      items: [
        {
          id: 'ntc_a',
          sent_at: '2026-01-02T12:00:01.000Z',
          to: 'ann@example.com',
          subject: '[web-shop] approve? Zweitens: größer',
        },
        {
          id: 'ntc_b',
          sent_at: '2026-01-02T12:00:00.000Z',
          to: 'ann@example.com',
          subject: '[web-shop] approve? First',
        },
      ],
    });
  });

  it('is a table on a terminal, and says why they are here', async () => {
    await write([{ id: 'ntc_a' }]);
    const { stdout, stderr } = await svc('outbox list', true);
    const [head, row] = stdout.split('\n');
    expect(head).toMatch(/^SENT +TO +SUBJECT +ID$/);
    expect(row).toMatch(
      /ago +ann@example\.com +\[web-shop\] approve\? Deploy version 1\.2\.3 +ntc_a$/,
    );
    expect(stderr).toContain('Without SVC_SMTP_URL');
  });

  it('shows so many, and says that there are more', async () => {
    await write([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    const { stdout, stderr } = await svc('outbox list --limit 2');
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ id: 'c' }, { id: 'b' }] });
    expect(stderr).toBe('1 older. To see them: --limit 3\n');
    expect((await svc('outbox list --limit 0')).code).toBe(2);
  });

  it('orders messages of one second by when they were written', async () => {
    for (const id of ['b', 'c', 'a']) {
      await write([{ id }]);
      // Clocks of file systems tick slowly.
      await sleep(20);
    }
    const { stdout } = await svc('outbox list');
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ id: 'a' }, { id: 'c' }, { id: 'b' }] });
  });

  it('passes by what is no message', async () => {
    await write([{ id: 'ntc_a' }]);
    mkdirSync(join(outbox, 'folder.eml'));
    writeFileSync(join(outbox, 'half.tmp'), 'Subject: half');
    writeFileSync(join(outbox, 'with space.eml'), 'Subject: no');
    writeFileSync(join(outbox, 'odd.eml'), Buffer.from([0, 255, 13, 10, 61, 63, 200]));
    writeFileSync(join(outbox, 'far.eml'), 'Date: 1 Jan 200000 00:00:00\n\n');
    const { code, stdout } = await svc('outbox list');
    const { items } = JSON.parse(stdout) as { items: { id: string }[] };
    expect([code, items.map(({ id }) => id).toSorted()]).toEqual([0, ['far', 'ntc_a', 'odd']]);
  });
});

describe('svc outbox show', () => {
  it('shows a message decoded', async () => {
    await write([{ id: 'ntc_a', summary: 'Ändern 日本 👩‍💻', details: 'x '.repeat(100) }]);
    const message = JSON.parse((await svc('outbox show ntc_a')).stdout) as Record<string, string>;
    expect(message).toMatchObject({
      id: 'ntc_a',
      sent_at: '2026-01-02T12:00:00.000Z',
      from: 'svc@localhost',
      to: 'ann@example.com',
      subject: '[web-shop] approve? Ändern 日本 👩‍💻',
      file: join(outbox, 'ntc_a.eml'),
    });
    expect(message['text']).toMatch(/^An agent asks[\s\S]+\n\n> Ändern 日本 👩‍💻\n\nProject: /);
    expect(message['text']).toContain(`> ${'x '.repeat(36).trimEnd()}\n`);
  });

  it('shows the newest, on a terminal with its heads', async () => {
    await write([{ id: 'old' }, { id: 'new', summary: 'New' }]);
    const { stdout } = await svc('outbox show', true);
    const [from, to, date, subject, gap, first] = stdout.split('\n');
    expect([from, to, subject, gap, first]).toEqual([
      'From     svc@localhost',
      'To       ann@example.com',
      'Subject  [web-shop] approve? New',
      '',
      'An agent asks you to approve an action. In its words:',
    ]);
    expect(date).toMatch(/^Date {5}2026-01-02 12:00:01 \(.+\)$/);
  });

  it('shows nothing that a terminal would obey', async () => {
    mkdirSync(outbox, { recursive: true });
    const subject = Buffer.from('a\u001b[2J\u202eb').toString('base64');
    writeFileSync(
      join(outbox, 'bad.eml'),
      `To: x\u001b]0;t\u0007y\r\nSubject: =?UTF-8?B?${subject}?=\r\n\r\nz\u001b[31m\u202e!\r\n`,
    );
    const { stdout } = await svc('outbox show bad', true);
    expect(stdout).toMatch(/^From *\nTo +xy\nDate[^\n]+\nSubject +ab\n\nz!\n$/);
    const list = await svc('outbox list', true);
    // oxlint-disable-next-line no-control-regex -- looks for what must not be there
    expect(list.stdout + stdout).not.toMatch(/[\u001b\u202e\u0007]/);
  });

  it('reads the plain part of a mail with several, and encodings split anywhere', async () => {
    mkdirSync(outbox, { recursive: true });
    const base64 = Buffer.from('größer\r\n').toString('base64');
    writeFileSync(
      join(outbox, 'm.eml'),
      [
        'Subject: =?UTF-8?Q?gr=C3?=',
        ' =?UTF-8?Q?=B6=C3=9Fer_als?= 1',
        'Content-Type: multipart/mixed; boundary="o"',
        '',
        '--o',
        'Content-Type: multipart/alternative;',
        ' boundary=i',
        '',
        '--i',
        'Content-Type: text/html',
        '',
        '<b>no</b>',
        '--i',
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: base64',
        '',
        base64,
        '--i--',
        '--o--',
      ].join('\r\n'),
    );
    expect(JSON.parse((await svc('outbox show m')).stdout)).toMatchObject({
      subject: 'größer als 1',
      text: 'größer\n',
    });
  });

  it.each(['ntc_none', '../daemon', 'a/b', '..'])('knows no %s', async (id) => {
    await write([{ id: 'ntc_a' }]);
    writeFileSync(join(folder, 'data', 'daemon.eml'), 'Subject: no');
    const { code, stdout, stderr } = await svc(`outbox show ${id}`);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toBe(`NOT_FOUND: No message \`${id}\`.\nList the messages: svc outbox list\n`);
  });
});

describe('svc outbox open', () => {
  const url = 'http://127.0.0.1:4780/a/t0ken0';

  it('opens the one link in the browser', async () => {
    await write([{ id: 'ntc_a' }]);
    const env = desktop('printf "%s\\n" "$@" > "$SEEN"');
    const { code, stdout } = await svc('outbox open', false, env);
    expect([code, JSON.parse(stdout)]).toEqual([0, { id: 'ntc_a', url, opened: true }]);
    expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe(`${url}\n`);
    const person = await svc('outbox open latest', true, env);
    expect(person.stdout).toBe(
      'Opened in your browser: [web-shop] approve? Deploy version 1.2.3\n',
    );
  });

  it('prints it where there is no desktop', async () => {
    await write([{ id: 'ntc_a' }]);
    const { code, stdout, stderr } = await svc('outbox open ntc_a', true, { PATH: '/nonexistent' });
    expect([code, stdout]).toEqual([0, `${url}\n`]);
    expect(stderr).toMatch(
      /^svc couldn't open a browser here: open the link yourself\. From another machine, forward the port first: ssh -L (\d+):127\.0\.0\.1:\1 HOST\n$/,
    );
  });

  it('prints it where the opener fails', async () => {
    await write([{ id: 'ntc_a' }]);
    const { stdout } = await svc('outbox open', false, desktop('exit 3'));
    expect(JSON.parse(stdout)).toEqual({ id: 'ntc_a', url, opened: false });
  });

  it('only prints it with --print', async () => {
    await write([{ id: 'ntc_a' }]);
    const env = desktop('printf "%s\\n" "$@" > "$SEEN"');
    const { stdout, stderr } = await svc('outbox open --print', true, env);
    expect([stdout, stderr]).toEqual([`${url}\n`, '']);
    expect(() => readFileSync(join(folder, 'seen'))).toThrow('ENOENT');
  });

  it('opens no link that an agent wrote', async () => {
    await write([
      {
        id: 'ntc_a',
        summary: 'https://evil.test/a',
        details: 'https://evil.test/b\r\nhttps://evil.test/c\u2028https://evil.test/d',
      },
    ]);
    expect((await svc('outbox open --print', true)).stdout).toBe(`${url}\n`);
  });

  it.each([
    ['a message that only tells', 'Auto-Submitted: auto-generated\r\n\r\nNo link.\r\n'],
    ['a mail that an agent sent', 'Subject: x\r\n\r\nhttps://evil.test/a\r\n'],
    ['two links', 'Auto-Submitted: auto-generated\r\n\r\nhttp://a.test/\r\nhttp://b.test/\r\n'],
    ['another scheme', 'Auto-Submitted: auto-generated\r\n\r\nfile:///etc/passwd\r\n'],
  ])('has nothing to open in %s', async (_, text) => {
    mkdirSync(outbox, { recursive: true });
    writeFileSync(join(outbox, 'x.eml'), text);
    const { code, stdout, stderr } = await svc('outbox open x');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^NO_LINK: /);
  });
});

describe('a mail that an agent sent', () => {
  const attachments = [
    { name: 'may.pdf', contentType: 'application/pdf', bytes: Buffer.alloc(2048, 1) },
    {
      name: 'größe "q"; 日本.csv',
      contentType: 'text/csv; charset=utf-8',
      bytes: Buffer.from('a'),
    },
    { name: 'notes.txt', contentType: 'text/plain', bytes: Buffer.from('not the text') },
  ];

  it('is listed among the messages', async () => {
    await write([{ id: 'ntc_a' }]);
    await writeMail();
    expect(JSON.parse((await svc('outbox list')).stdout)).toMatchObject({
      items: [{ id: 'msg_1', to: 'bo@example.com', subject: 'Your report' }, { id: 'ntc_a' }],
    });
  });

  it('is shown with the files that go with it', async () => {
    await writeMail({ attachments, html: '<p>See attached.</p>' });
    expect(JSON.parse((await svc('outbox show')).stdout)).toMatchObject({
      id: 'msg_1',
      from: 'Shop <shop@localhost>',
      text: 'See attached.\n',
      attachments: [
        { name: 'may.pdf', content_type: 'application/pdf', size_bytes: 2048 },
        { name: 'größe "q"; 日本.csv', content_type: 'text/csv', size_bytes: 1 },
        { name: 'notes.txt', content_type: 'text/plain', size_bytes: 12 },
      ],
    });
    const lines = (await svc('outbox show msg_1', true)).stdout.split('\n');
    expect(lines.slice(3)).toEqual([
      'Subject   Your report',
      'Attached  may.pdf (2 KB)',
      'Attached  größe "q"; 日本.csv (1 byte)',
      'Attached  notes.txt (12 bytes)',
      '',
      'See attached.',
      '',
    ]);
  });

  it('shows its copies, and who gets a blind one', async () => {
    const shown = { to: ['ana@example.com', 'cy@example.com'], cc: ['dee@example.com'] };
    await writeMail({ shown });
    expect(JSON.parse((await svc('outbox list')).stdout)).toMatchObject({
      items: [{ id: 'msg_1', to: 'bo@example.com' }],
    });
    expect(JSON.parse((await svc('outbox show')).stdout)).toMatchObject({
      to: 'ana@example.com, cy@example.com',
      cc: 'dee@example.com',
      delivered_to: 'bo@example.com',
    });
    const lines = (await svc('outbox show msg_1', true)).stdout.split('\n');
    expect(lines.slice(1, 4)).toEqual([
      'To        ana@example.com, cy@example.com',
      'Cc        dee@example.com',
      'Copy for  bo@example.com',
    ]);
  });

  it('has no link to open, even where it looks like one of ours', async () => {
    await writeMail({ text: 'Approve here:\nhttp://127.0.0.1:4780/a/t0ken0\n' });
    for (const line of ['outbox open', 'outbox open msg_1', 'outbox open latest --print']) {
      const { code, stdout, stderr } = await svc(line);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toBe(
        "NO_LINK: svc doesn't open this mail's links because an agent wrote it.\nRead it with: svc outbox show msg_1\n",
      );
    }
  });

  it('does not stand before the message that waits for an answer', async () => {
    await write([{ id: 'ntc_a' }]);
    await writeMail({ text: 'http://evil.test/\n' });
    const { stdout } = await svc('outbox open --print', true);
    expect(stdout).toBe('http://127.0.0.1:4780/a/t0ken0\n');
  });
});
