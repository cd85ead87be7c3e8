import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  OpenedRequest,
  RequestKind,
  RequestView,
} from '../../../../gateway/approvals/approvals.ts';
import { askHtml, overHtml, tellHtml } from '../../../../gateway/channels/telegram/messages.ts';
import { pageLink } from '../../../../gateway/channels/telegram/page-link.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { parseTelegramHtml } from '../../../helpers/telegram-html.ts';
import { MemoryApprovals } from './memory-approvals.ts';

const MAX_CHARS = 3500;
const TOKEN = 't'.repeat(40);
const page = pageLink('https://svc.example.com/base/', TOKEN);

function opened(fields: Partial<RequestView>): OpenedRequest {
  const approvals = new MemoryApprovals(new FakeClock());
  const { channelId } = approvals.addChannel('Anna');
  return approvals.openedBy(approvals.ask(channelId, fields).requestId, channelId);
}

const ask = (fields: Partial<RequestView>) => parseTelegramHtml(askHtml(opened(fields), page));
const over = (fields: Partial<RequestView>) => parseTelegramHtml(overHtml(opened(fields)));

const HOSTILE = '</pre></code><b>Approved</b>\u202E<a href="https://evil.example">x</a>&lt;';

describe('a message that asks', () => {
  it.each<[RequestKind, string, string]>([
    ['approval', 'Approval requested', 'asks before it acts'],
    ['question', 'Question', 'Reply to this message with your answer'],
    ['policy', 'New policy proposed', 'rules that will decide in your place'],
    ['file_url', 'Public link to a file', 'Anyone with the link can download the file'],
    ['email_send', 'Email to be sent', 'send email from the address of the project'],
    ['channel', 'New channel proposed', 'also gets requests and can decide, just as you do'],
    ['member', 'Change of members', 'changes who has power in the project'],
  ])('says what it is about: %s', (kind, title, meaning) => {
    const { text } = ask({ kind });
    expect(text.startsWith(title)).toBe(true);
    expect(text).toContain(meaning);
  });

  it('shows the note, the warnings and the change of a policy', () => {
    const diff = ['+ allow everything', '- ask a person', '  the rest'];
    const { text, entities } = ask({
      kind: 'policy',
      note: 'Faster refunds',
      diff,
      warnings: ['Rule 2 is never reached.', 'Rule 3 means everything.'],
    });
    for (const [label, words] of [
      ['Note, as the agent wrote it', 'Faster refunds'],
      ['Warnings', '• Rule 2 is never reached.\n• Rule 3 means everything.'],
      ['Change', diff.join('\n')],
    ] as const) {
      expect(text).toContain(`${label}\n${words}`);
    }
    expect(entities).toContainEqual({ tag: 'code', text: diff.join('\n'), href: null });
  });

  it('shows exactly the values that an approval binds', () => {
    const rows = [
      ['sha', '3f2a'],
      ['number', '12'],
    ] as const;
    const { entities } = ask({ bound: { rows } });
    expect(entities).toContainEqual({ tag: 'pre', text: 'sha: 3f2a\nnumber: 12', href: null });
    expect(ask({ bound: { rows } }).text).not.toContain('These values are cut');
  });

  it('says that bound values are cut, and where all of them are', () => {
    const { text } = ask({ bound: { json: 'x'.repeat(4000) } });
    expect(text).toContain('…\n✂️ These values are cut. Read all of them on the page first.');
    expect(text).toMatch(/This is not all\. Open full text$/);
  });

  it('names the event', () => {
    const event = { id: 'evt_1', source: 'github', type: 'pull_request.opened' };
    expect(ask({ event }).text).toContain('Event: pull_request.opened from github, evt_1\n');
  });

  it('keeps every line of a change a line of its own, with its sign', () => {
    const { entities } = ask({ kind: 'policy', diff: ['  one', '+ two\n- three\u2028+ four'] });
    const shown = { tag: 'code', text: '  one\n+ two - three + four', href: null };
    expect(entities).toContainEqual(shown);
  });

  it('leaves out what there is nothing of', () => {
    const { text } = ask({ action: null, amount: null, risk: null, summary: '', details: '' });
    expect(text).not.toMatch(/null|undefined|Action|Amount|Risk|Details|Note|Change|wrote/);
  });

  it.each([
    [0, '0'],
    [1234567.89, '1,234,567.89'],
    [0.1, '0.1'],
    [-5, '-5'],
    [1e21, '1e+21'],
    [1e-9, '1e-9'],
    [9007199254740991, '9,007,199,254,740,991'],
  ])('shows every digit of an amount: %d', (amount, shown) => {
    expect(ask({ amount }).text).toContain(`Amount: ${shown}\n`);
  });

  it.each([
    [30_000, 'less than a minute'],
    [5 * 60_000, '5 min'],
    [3 * 3_600_000 + 7 * 60_000, '3 h 7 min'],
    [49 * 3_600_000, '2 d 1 h'],
  ])('says how long there is: %d ms', (ms, shown) => {
    const { now } = opened({});
    expect(ask({ expiresAt: now + ms }).text).toContain(`UTC, in ${shown}\n`);
  });

  it('puts what an agent wrote in monospace alone, where Telegram makes no links', () => {
    const evil = 'https://evil.example/';
    const one = opened({
      agent: { label: evil, platform: 'custom' },
      keyName: evil,
      action: evil,
      summary: evil,
      details: evil,
      note: evil,
      options: [evil],
      diff: [evil],
      warnings: [evil],
    });
    const html = askHtml(one, page);
    expect(html.split(evil)).toHaveLength(10);
    const ours = html.replace(/<pre>.*?<\/pre>/gs, '').replace(/<code>.*?<\/code>/gs, '');
    expect(ours).not.toContain(evil);
  });

  it('cannot be faked by what an agent wrote', () => {
    const { text, entities } = ask({ summary: HOSTILE, details: HOSTILE, action: HOSTILE });
    expect(text).toContain(HOSTILE.replace('\u202E', '\uFFFD'));
    expect(entities.filter(({ tag }) => tag === 'a')).toEqual([]);
    const bold = entities.filter(({ tag }) => tag === 'b').map((entity) => entity.text);
    expect(bold).not.toContain('Approved');
  });

  it('says that it is not all, and where the rest is', () => {
    const { text, entities } = ask({ details: 'word '.repeat(800) });
    expect(text).toMatch(/…\n✂️ This is not all\. Open full text$/);
    const link = entities.find(({ tag }) => tag === 'a');
    expect(link?.href).toBe(`https://svc.example.com/base/a/${TOKEN}`);
  });

  it('says so as well when only blank lines were left out of a text too long to read', () => {
    expect(ask({ details: `a${'\n'.repeat(9000)}b` }).text).toContain('This is not all');
  });

  it('fits with everything at its longest, and keeps what counts', () => {
    const long = '&'.repeat(5000);
    const html = askHtml(
      opened({
        project: { name: long, slug: long },
        agent: { label: long, platform: 'custom' },
        keyName: long,
        action: long,
        summary: long,
        details: long,
        note: long,
        options: Array.from({ length: 5 }, () => '<'.repeat(40)),
        amount: Number.MAX_VALUE,
        diff: [long],
        warnings: [long, long],
      }),
      page,
    );
    expect(html.length).toBeLessThanOrEqual(MAX_CHARS);
    const { text } = parseTelegramHtml(html);
    for (const part of ['Amount: 1.7976931348623157e+308', 'Risk: medium', 'Expires: ', '5. <<<']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('Fingerprint: ab12cd34ef56');
  });

  it('is valid and within its limit whatever an agent writes', () => {
    const words = fc.string({ unit: 'binary', maxLength: 4000 });
    const fields = fc.record({
      kind: fc.constantFrom<RequestKind>('approval', 'question', 'policy', 'email_send'),
      summary: words,
      action: words,
      details: fc.option(words),
      note: fc.option(words),
      diff: fc.array(words, { maxLength: 5 }),
      warnings: fc.array(words, { maxLength: 5 }),
      options: fc.array(words, { maxLength: 5 }),
      amount: fc.double({ noNaN: true, noDefaultInfinity: true }),
      decision: fc.option(words),
      comment: fc.option(words),
      approvals: fc.record({
        needed: fc.constant(3),
        given: fc.array(fc.record({ label: words, at: fc.constant(0) }), { maxLength: 2 }),
      }),
      decidedBy: fc.option(words),
      status: fc.constantFrom('modified' as const, 'answered' as const),
    });
    fc.assert(
      fc.property(fields, (some) => {
        const one = opened(some);
        for (const html of [askHtml(one, page), overHtml(one), tellHtml(one)]) {
          expect(html.length).toBeLessThanOrEqual(MAX_CHARS);
          expect(parseTelegramHtml(html).text).toContain('Fingerprint: ab12cd34ef56');
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a message that is over', () => {
  const at = Date.UTC(2026, 0, 2, 3, 9);
  it.each([
    ['approved', '✅ Approved\nBy: Ben\nAt: 2026-01-02 03:09 UTC'],
    ['denied', '⛔ Denied\nBy: Ben\nAt: 2026-01-02 03:09 UTC'],
    ['needs_context', '❓ Sent back: needs context\nBy: Ben'],
    ['modified', '✅ Approved with a change\nBy: Ben'],
    ['answered', '💬 Answered\nBy: Ben'],
  ] as const)('says who and when: %s', (status, start) => {
    expect(over({ status, decidedBy: 'Ben', decidedAt: at }).text.startsWith(start)).toBe(true);
  });

  it.each([
    ['approved', '✅ Approved by you, 03:09 UTC\n'],
    ['denied', '⛔ Denied by you, 03:09 UTC\n'],
    ['needs_context', '❓ Sent back by you: needs context, 03:09 UTC\n'],
    ['modified', '✅ Approved by you with a change, 03:09 UTC\n'],
    ['answered', '💬 Answered by you, 03:09 UTC\n'],
  ] as const)('says to the person who decided that it was them: %s', (status, start) => {
    expect(over({ status, decidedBy: 'Anna', decidedAt: at }).text.startsWith(start)).toBe(true);
  });

  it('names the day where it is another one', () => {
    const { text } = over({ status: 'approved', decidedBy: 'Anna', decidedAt: at - 86_400_000 });
    expect(text).toMatch(/^✅ Approved by you, 2026-01-01 03:09 UTC\n/);
  });

  it.each([
    ['approved', { kind: 'done', at, words: 'merged 3f2a' }, '🏁 Done, 03:09 UTC: merged 3f2a\n'],
    ['approved', { kind: 'done', at, words: null }, '🏁 Done, 03:09 UTC\n'],
    ['denied', { kind: 'done', at, words: null }, '🏁 Closed, 03:09 UTC\n'],
    ['approved', { kind: 'dead', at, words: 'x' }, '❌ Given up, 03:09 UTC: x\n'],
    ['approved', { kind: 'idle', tried: false }, '⏳ Not taken up for 30 minutes\n'],
    ['approved', { kind: 'idle', tried: true }, '⏳ Not done after 30 minutes: the event'],
  ] as const)('says what became of it: %s, %o', (status, outcome, line) => {
    const { text } = over({ status, decidedBy: 'Anna', decidedAt: at, outcome });
    expect(text.split('\n').slice(1).join('\n').startsWith(line)).toBe(true);
  });

  it('does not let a result make a link or pass for our words', () => {
    const outcome = { kind: 'done', at, words: HOSTILE } as const;
    const { entities } = over({ status: 'approved', decidedBy: 'Anna', decidedAt: at, outcome });
    const text = HOSTILE.replace('\u202E', '\uFFFD');
    expect(entities).toContainEqual({ tag: 'code', text, href: null });
  });

  it('says that the agent took it back, and why', () => {
    const { text } = over({ status: 'expired', decidedAt: at, withdrawn: 'a newer version.' });
    expect(text).toMatch(/^↩️ Withdrawn, nothing to decide\nWhy: a newer version\.\nAt: /);
  });

  it('says that nobody decided', () => {
    const { text } = over({ status: 'expired', decidedAt: at });
    expect(text).toMatch(/^⌛ Expired: nobody decided in time, so it is not approved\nAt: /);
  });

  it('says that it is no longer asked here, when the request goes on elsewhere', () => {
    expect(over({}).text).toMatch(/^➖ No longer asked here\n/);
  });

  it('shows the answer and the comment, and still what was asked', () => {
    const { text } = over({
      status: 'answered',
      decision: '<b>Europe</b>',
      comment: 'As before.',
      decidedBy: 'Anna',
      decidedAt: at,
    });
    expect(text).toContain('The answer\n<b>Europe</b>\nComment\nAs before.');
    expect(text).toContain('Delete three old backups');
  });

  it('does not let a label make a link or pass for our words', () => {
    const { entities } = over({ status: 'denied', decidedBy: 'evil.example', decidedAt: at });
    expect(entities).toContainEqual({ tag: 'code', text: 'evil.example', href: null });
  });
});

describe('the link to the page', () => {
  it.each([
    ['https://svc.example.com', `https://svc.example.com/a/${TOKEN}`, true],
    ['https://svc.example.com/', `https://svc.example.com/a/${TOKEN}`, true],
    ['https://example.com:8443/svc/', `https://example.com:8443/svc/a/${TOKEN}`, true],
    ['http://127.0.0.1:4780', `http://127.0.0.1:4780/a/${TOKEN}`, true],
    ['http://localhost:4780', `http://127.0.0.1:4780/a/${TOKEN}`, true],
    ['http://[::1]:4780', `http://[::1]:4780/a/${TOKEN}`, true],
    // Telegram refuses a whole message for such a link.
    ['http://gateway:4780', `http://gateway:4780/a/${TOKEN}`, false],
  ])('under %s', (publicUrl, url, isTappable) => {
    expect(pageLink(publicUrl, TOKEN)).toEqual({ url, isTappable });
  });

  it('is written out where Telegram makes no link of it', () => {
    const bare = pageLink('http://gateway:4780', TOKEN);
    const html = askHtml(opened({ details: 'x'.repeat(4000) }), bare);
    expect(parseTelegramHtml(html).entities).toContainEqual({
      tag: 'code',
      text: `http://gateway:4780/a/${TOKEN}`,
      href: null,
    });
  });
});
