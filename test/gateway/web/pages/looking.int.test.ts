import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestView } from '../../../../gateway/approvals/approvals.ts';
import type { FakeClock } from '../../../helpers/gateway.ts';
import { MemoryApprovals } from './memory-approvals.ts';
import { PagesServer } from './pages-server.ts';
import { Setting, wordsOf } from './setting.ts';

let clock: FakeClock;
let approvals: MemoryApprovals;
let server: PagesServer;
let setting: Setting;

beforeEach(async () => {
  setting = await Setting.start();
  ({ clock, approvals, server } = setting);
});

afterEach(() => setting.stop());

function ask(change: Partial<RequestView> = {}): void {
  setting.ask(change);
}

describe('looking at a request', () => {
  it('shows what is asked, by whom and until when', async () => {
    ask({ details: 'Charged at 11:02 and 11:03.', amount: 12_500.5, options: ['Refund half'] });
    const { response, html } = await server.get('/a/owner');
    expect(response.status).toBe(200);
    const words = wordsOf(html);
    for (const shown of [
      'Acme Shop',
      'acme-shop',
      'Approve this action?',
      'Written by the agent “ refund-bot ”',
      'Refund order 1042, which was charged twice',
      'refund.create',
      '12 500.5',
      'Medium',
      'Charged at 11:02 and 11:03.',
      'Expires in 3 h, at 14:30:00 UTC',
      '4 min ago, at 11:26:00 UTC',
      'calls itself refund-bot , on claude-code',
      'Key ci',
      '8f3a 12bc 90de',
      'Approve, but only: Refund half',
      'Deny',
      'Ask for more context',
    ]) {
      expect(words).toContain(shown);
    }
    expect(html).toContain(
      '<time datetime="2026-01-02T14:30:00.000Z" title="2026-01-02T14:30:00.000Z">14:30:00 UTC</time>',
    );
    expect(html).toContain('<html lang="en">');
  });

  it('decides nothing, however often and however it is looked at', async () => {
    ask();
    for (let round = 0; round < 10; round += 1) {
      for (const method of ['GET', 'HEAD']) {
        const query = '?verb=approve&confirm=yes&late=approve';
        const response = await fetch(`${server.url}/a/owner${query}`, { method });
        expect(response.status).toBe(200);
        await response.text();
      }
    }
    expect(approvals.taken).toEqual([]);
    expect((await approvals.open('owner'))?.request.status).toBe('pending');
  });

  it('answers other methods with what it has', async () => {
    ask();
    for (const path of ['/a/owner', '/c/owner']) {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await fetch(server.url + path, { method });
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
      }
    }
    expect(approvals.taken).toEqual([]);
  });

  it.each(['/a/unknown', '/c/unknown', '/a/..%2f..%2fetc', '/a/%00', `/a/${'a'.repeat(300)}`])(
    'answers %s with what to do',
    async (path) => {
      const { response, html } = await server.get(path);
      expect(response.status).toBe(404);
      expect(wordsOf(html)).toContain('Open the newest message that you were sent');
    },
  );

  it('says that a link is dead once its channel is removed, also when it decides', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    approvals.kill('owner');
    const response = await server.post('/a/owner', { csrf, verb: 'approve' });
    expect(response.status).toBe(404);
    expect(approvals.taken).toEqual([]);
  });

  it('lets a browser do nothing with the page but show it', async () => {
    ask();
    for (const path of ['/a/owner', '/a/unknown']) {
      const { response, html } = await server.get(path);
      const sourceOf = (tag: string): string => {
        const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? '';
        return `sha256-${createHash('sha256').update(text).digest('base64')}`;
      };
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `default-src 'none'; script-src '${sourceOf('script')}'; style-src '${sourceOf('style')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow, noarchive',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cache-control': 'no-store',
      });
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(html).not.toMatch(/style="|https?:\/\//);
    }
  });

  it.each([
    ['question', 'An agent asks you', 'Your answer goes back to the agent.'],
    ['policy', 'Change the rules?', 'decide what agents may do without asking a person'],
    ['file_url', 'Create a public link to a file?', 'Anyone with the link can download the file'],
    ['email_send', 'Send this email?', 'can’t take it back'],
    ['channel', 'Add an approver?', 'approves and denies in this project'],
  ] as const)('says what a yes to a request of kind %s means', async (kind, heading, meaning) => {
    ask({ kind });
    const words = wordsOf((await server.get('/a/owner')).html);
    expect(words).toContain(heading);
    expect(words).toContain(meaning);
  });

  it('shows a long question with its lines, and folds the rest of it', async () => {
    ask({ kind: 'question', summary: `First line\nSecond line\n${'word '.repeat(390)}` });
    const { html } = await server.get('/a/owner');
    expect(html).toContain('First line\nSecond line\n');
    expect(wordsOf(html)).toMatch(/Show 1.\d{3} characters more/);
  });

  it('shows a policy with its note, its change and what is wrong with it', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `+ amount_lte: ${index}`);
    ask({
      kind: 'policy',
      note: 'For refunds.',
      diff: ['- old', ...lines],
      warnings: ['Shadowed.'],
    });
    const { html } = await server.get('/a/owner');
    expect(wordsOf(html)).toContain('Found when the rules were checked Shadowed.');
    expect(wordsOf(html)).toContain('For refunds.');
    expect(html).toContain('<li class="cut">- old</li>');
    expect(html).toContain('<li class="add">+ amount_lte: 59</li>');
    expect(wordsOf(html)).toContain('Show 21 more lines');
  });
});

describe('how a request ended', () => {
  it.each([
    ['approval', 'approved', 'Approved', 'The agent may go on.'],
    ['approval', 'denied', 'Denied', 'The agent may not do this.'],
    ['approval', 'needs_context', 'More context requested', 'Nothing is approved.'],
    ['approval', 'expired', 'Expired, not approved', 'Nobody decided in time'],
    ['question', 'expired', 'Expired, not answered', 'Nobody answered in time.'],
    ['policy', 'approved', 'Approved', 'The new rules are in force.'],
    ['policy', 'denied', 'Denied', 'The rules stay as they were.'],
    ['file_url', 'approved', 'Approved', 'The agent can now create this link, once.'],
    ['email_send', 'expired', 'Expired, not approved', 'The email isn’t sent.'],
    ['channel', 'approved', 'Approved', 'This channel can now decide.'],
  ] as const)('%s, %s', async (kind, status, heading, meaning) => {
    ask({ kind, status, decidedBy: 'small-refunds', decidedAt: clock.now() });
    const { response, html } = await server.get('/a/owner');
    expect(response.status).toBe(200);
    expect(html).toContain(`<h1>${heading}</h1>`);
    expect(wordsOf(html)).toContain(meaning);
    expect(html).not.toContain('<form');
  });
});

describe('an address that is to be confirmed', () => {
  const channel = {
    label: 'ops',
    project: { name: 'Acme Shop', slug: 'acme-shop' },
    address: 'o***@example.com',
    status: 'added',
  } as const;

  it('is confirmed by a form, not by a look', async () => {
    approvals.addChannel('token', channel);
    for (let round = 0; round < 10; round += 1) {
      await server.get('/c/token');
      await fetch(`${server.url}/c/token`, { method: 'HEAD' });
    }
    expect((await approvals.openChannel('token'))?.status).toBe('added');
    const { html, csrf } = await server.get('/c/token');
    expect(wordsOf(html)).toContain('o***@example.com');
    const response = await server.post('/c/token', { csrf });
    expect([response.status, response.headers.get('location')]).toEqual([303, 'token']);
    const after = await server.get('/c/token');
    expect(wordsOf(after.html)).toContain('Next, the project owner approves you.');
    expect(after.html).not.toContain('<form');
  });

  it('is not confirmed from elsewhere', async () => {
    approvals.addChannel('token', channel);
    const { csrf } = await server.get('/c/token');
    const answers = [
      await server.post('/c/token', { csrf }, { 'sec-fetch-site': 'cross-site' }),
      await server.post('/c/token', {}),
      await server.post('/c/token', { csrf }, { 'content-type': 'text/plain' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await approvals.openChannel('token'))?.status).toBe('added');
  });

  it('that is in use says so', async () => {
    approvals.addChannel('token', { ...channel, status: 'active' });
    const { html } = await server.get('/c/token');
    expect(wordsOf(html)).toContain('We ask you at this address when a decision is needed.');
  });
});

describe('a desk that fails', () => {
  it('is told to nobody but the log, and the page says where to look', async () => {
    const broken = new MemoryApprovals(clock);
    broken.open = () => Promise.reject(new Error('SELECT secret FROM request'));
    const other = await PagesServer.start(broken);
    const { response, html } = await other.get('/a/owner');
    await other.stop();
    expect(response.status).toBe(500);
    expect(html).not.toContain('secret');
    expect(wordsOf(html)).toContain('open the link in your message again');
    expect(wordsOf(html)).toContain(response.headers.get('x-request-id') ?? 'no id');
    expect(other.failures.map(String)).toEqual(['Error: SELECT secret FROM request']);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});
