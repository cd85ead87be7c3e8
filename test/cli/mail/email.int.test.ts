import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { refuse, type FakeDaemon } from '../fake-daemon.ts';
import { answering, ID, record, svc, type Json, type Routes } from '../approvals/fake-people.ts';

const BATCH = 'bat_01j9z3k4m5n6p7q8r9s0t1v2w3';
const SEND = ['email', 'send', '--to', 'ana@example.com', '--subject', 'Hello', '--text', 'Hi.'];
const STATUS = ['email', 'status', BATCH];

let daemon: FakeDaemon | undefined;
const folder = mkdtempSync(join(tmpdir(), 'svc-cli-email-'));
afterEach(() => daemon?.close());
afterAll(() => rmSync(folder, { recursive: true }));

async function given(routes: Routes, mail?: 'outbox' | 'smtp'): Promise<FakeDaemon> {
  daemon = await answering(routes, mail);
  return daemon;
}

function message(to: string, status: string, error?: Json): Json {
  return { message_id: `msg_${to.slice(0, 2)}`, to, status, ...(error && { error }) };
}

function batch(status: string, messages = [message('ana@example.com', status)]): Json {
  const request_id = status === 'queued' || status === 'sent' ? null : ID;
  return { status, batch_id: BATCH, request_id, messages };
}

describe('svc email send', () => {
  it.each([
    ['queued', 0, '… Queued: 1 message.', [`Next  svc email status ${BATCH}`]],
    [
      'pending',
      6,
      '… Waiting for a person. Once approved, svc sends it automatically.',
      [`Next  svc request watch ${ID}`, `Then  svc email status ${BATCH}`],
    ],
    ['cancelled', 5, "✗ Cancelled: it wasn't approved, so nothing was sent.", [BATCH]],
  ])('%s ends with %i', async (status, code, sentence, next) => {
    const fake = await given({ 'POST /v1/emails': batch(status) }, 'smtp');
    const line = [...SEND, '--wait-seconds', '0'];
    const person = await svc(line, fake, { terminal: true });
    expect(person.code).toBe(code);
    const lines = person.stdout.split('\n');
    expect([lines[0], ...lines.slice(4)]).toEqual([sentence, '', ...next, '']);
    expect(lines.slice(1, 4).map((text) => text.split(/ {2,}/))).toEqual([
      [''],
      ['TO', 'STATUS', 'MESSAGE ID'],
      ['ana@example.com', status, 'msg_an'],
    ]);
    const piped = await svc(line, fake);
    expect([piped.code, JSON.parse(piped.stdout)]).toEqual([code, batch(status)]);
  });

  it('carries what was typed, from files and repeated flags too', async () => {
    const [text, html] = [join(folder, 'letter.txt'), join(folder, 'letter.html')];
    writeFileSync(text, 'Dear Ana,\nsee attached.\n');
    writeFileSync(html, '<p>Dear Ana</p>\n');
    const fake = await given({ 'POST /v1/emails': batch('queued') }, 'smtp');
    const to = '--to ana@example.com --to bo@example.com,cy@example.com --subject Report';
    const files = '--attachments reports/may.pdf --attachments disk://a,evt_1/b.csv';
    const flags = `${to} ${files} --reply-to-inbox false --wait-seconds 0`.split(' ');
    const line = ['email', 'send', '--text', `@${text}`, '--html', `@${html}`, ...flags];
    expect((await svc(line, fake)).code).toBe(0);
    expect(JSON.parse(fake.seen[0]?.body ?? '')).toEqual({
      to: ['ana@example.com', 'bo@example.com', 'cy@example.com'],
      subject: 'Report',
      text: 'Dear Ana,\nsee attached.',
      html: '<p>Dear Ana</p>',
      attachments: ['reports/may.pdf', 'disk://a', 'evt_1/b.csv'],
      reply_to_inbox: false,
      wait_seconds: 0,
    });
  });

  it('says where the mail or the question is while nothing is sent from this machine', async () => {
    const queued = await given({ 'POST /v1/emails': batch('queued') });
    expect((await svc(SEND, queued)).stderr).toBe(
      'The mail is saved here, not mailed: no mail server is set. To read it: svc outbox show\n',
    );
    expect((await svc([...SEND, '--json'], queued)).stderr).toBe('');
    queued.close();
    const pending = await given({ 'POST /v1/emails': batch('pending') });
    expect((await svc([...SEND, '--wait-seconds', '0'], pending)).stderr).toBe(
      `Still pending. Next: svc request watch ${ID}\nThe question is saved here, not mailed: no mail server is set. To decide: svc outbox open\n`,
    );
    pending.close();
    const cancelled = await given({ 'POST /v1/emails': batch('cancelled') });
    expect((await svc(SEND, cancelled)).stderr).toBe('');
  });

  it.each([
    ['approved', 'queued', 0],
    ['denied', 'cancelled', 5],
  ])(
    'waits until it is %s with --until-decided, and answers how it stands then',
    async (decision, status, code) => {
      const now = { ...batch(status), request_id: ID };
      const fake = await given(
        {
          'POST /v1/emails': batch('pending'),
          [`GET /v1/requests/${ID}`]: record({ kind: 'email_send', status: decision }),
          [`GET /v1/emails/${BATCH}`]: {
            ...now,
            subject: 'Hello',
            from: 'a@b.test',
            created_at: 'x',
          },
        },
        'smtp',
      );
      const { stdout, ...ended } = await svc(
        [...SEND, '--until-decided', '--wait-seconds', '0'],
        fake,
      );
      expect(ended).toEqual({ code, stderr: '' });
      expect(JSON.parse(stdout)).toEqual(now);
    },
  );

  it('finds the request while it waits, and names it to whoever ends the wait', async () => {
    const ours = record({ kind: 'email_send', summary: 'Send "Hello" to ana@example.com' });
    const other = record({ kind: 'email_send', summary: 'Send "Other" to ana@example.com' });
    const fake = await given({
      'POST /v1/emails': () => undefined,
      'GET /v1/requests': {
        items: [{ ...other, request_id: 'req_other' }, ours],
        next_cursor: null,
      },
    });
    const abort = new AbortController();
    const ended = svc(SEND, fake, { signal: abort.signal });
    // It is found by then: where its message is comes next.
    await expect
      .poll(() => fake.seen.map(({ url }) => url), { timeout: 60_000 })
      .toContain('/_daemon/status');
    abort.abort();
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toContain(`To resume waiting: svc request watch ${ID}\n`);
  });

  it('says how to add the source that replies need', async () => {
    const fake = await given({
      'POST /v1/emails': (_, response) => refuse(response, 409, 'EMAIL_SOURCE_REQUIRED'),
    });
    const { code, stderr } = await svc(SEND, fake);
    expect(code).toBe(1);
    expect(stderr).toContain('svc source add mail --type email');
    expect(stderr).toContain('--reply-to-inbox false');
  });

  it.each([
    ['POLICY_DENIED', 403, 5],
    ['SEND_LIMIT_REACHED', 429, 1],
    ['SEND_BLOCKED', 403, 1],
  ])('that ends with %s asks nobody', async (refusal, status, code) => {
    const fake = await given({
      'POST /v1/emails': (_, response) => refuse(response, status, refusal),
    });
    const ended = await svc(SEND, fake);
    expect([ended.code, ended.stdout]).toEqual([code, '']);
    expect(fake.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it.each([['--to'], ['--subject'], ['--text']])(
    'misses %s before anything is asked',
    async (flag) => {
      const fake = await given({});
      const at = SEND.indexOf(flag);
      const { code, stderr } = await svc(SEND.toSpliced(at, 2), fake);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} is missing.`)]);
      expect(fake.seen).toEqual([]);
    },
  );
});

describe('svc email status', () => {
  const about = {
    subject: 'Hello\u202e',
    from: 'shop@b.test',
    created_at: '2026-01-02T11:59:00.000Z',
  };

  async function shown(answer: Json): Promise<string[]> {
    const fake = await given({ [`GET /v1/emails/${BATCH}`]: { ...answer, ...about } });
    return (await svc(STATUS, fake, { terminal: true })).stdout.split('\n');
  }

  it.each([
    [['sent'], '✓ Sent: 1 message.'],
    [['sent', 'sent'], '✓ Sent: 2 messages.'],
    [['failed'], '✗ Failed: 1 message.'],
    [['bounced', 'bounced'], '✗ Bounced: 2 messages.'],
    [['sent', 'sent', 'bounced'], '✗ Done: 2 sent, 1 bounced.'],
  ])('of %j says so in a line', async (statuses, sentence) => {
    const messages = statuses.map((status, at) => message(`p${at}@example.com`, status));
    expect((await shown(batch('sent', messages)))[0]).toBe(sentence);
  });

  it('shows what it was about, and why a message was not sent', async () => {
    const error = { code: 'refused', message: '550 no such\u001b[2J user\r\nX: y' };
    const messages = [
      message('ana@example.com', 'queued'),
      message('bo@example.com', 'failed', error),
    ];
    const lines = await shown(batch('queued', messages));
    expect(lines.map((line) => line.replace(/\(.+ ago\)/, '(…)'))).toEqual([
      '… Queued: 1 queued, 1 failed.',
      '',
      'Subject  Hello',
      'From     shop@b.test',
      'Asked    2026-01-02 11:59:00 (…)',
      '',
      'TO               STATUS  MESSAGE ID',
      'ana@example.com  queued  msg_an',
      'bo@example.com   failed  msg_bo',
      '',
      'bo@example.com: refused. 550 no such user X: y',
      '',
      `Next  svc email status ${BATCH}`,
      '',
    ]);
  });

  it.each([
    ['pending', 6],
    ['queued', 0],
    ['sent', 0],
    ['failed', 1],
    ['cancelled', 5],
  ])('of one that is %s ends with %i', async (status, code) => {
    const whole = { ...batch(status), ...about };
    const fake = await given({ [`GET /v1/emails/${BATCH}`]: whole });
    const { stdout, ...ended } = await svc(STATUS, fake);
    expect([ended.code, JSON.parse(stdout)]).toEqual([code, whole]);
  });

  it.each([
    [
      'outbox',
      'The mail is saved here, not mailed: no mail server is set. To read it: svc outbox list\n',
    ],
    ['smtp', ''],
  ] as const)('of one that was sent where mail goes to %s says %j', async (mail, note) => {
    const fake = await given({ [`GET /v1/emails/${BATCH}`]: { ...batch('sent'), ...about } }, mail);
    expect((await svc(STATUS, fake)).stderr).toBe(note);
    expect((await svc([...STATUS, '--json'], fake)).stderr).toBe('');
  });
});
