import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestView } from '../../../../gateway/approvals/approvals.ts';
import type { FakeClock } from '../../../helpers/gateway.ts';
import type { MemoryApprovals } from './memory-approvals.ts';
import { type PagesServer } from './pages-server.ts';
import { Setting, wordsOf } from './setting.ts';

const HOUR = 3_600_000;
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

describe('deciding', () => {
  it.each([
    [{ verb: 'approve' }, { verb: 'approve' }, 'Approved'],
    [
      { verb: 'approve', comment: ' Fine.\r\nGo on. ' },
      { verb: 'approve', comment: 'Fine.\nGo on.' },
      'Approved',
    ],
    [{ verb: 'deny', comment: '' }, { verb: 'deny' }, 'Denied'],
    [{ index: '1' }, { verb: 'option', index: 1 }, 'Approved with a change'],
    [
      { verb: 'option', index: '0', comment: 'b' },
      { verb: 'option', index: 0, comment: 'b' },
      'Approved with a change',
    ],
    [
      { verb: 'needs_context', comment: 'Who?' },
      { verb: 'needs_context', comment: 'Who?' },
      'More context requested',
    ],
  ])('%j', async (fields, choice, heading) => {
    ask({ options: ['Half', 'Credit'] });
    const response = await server.decide('/a/owner', fields);
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('owner');
    expect(approvals.taken).toEqual([choice]);
    const { html } = await server.get('/a/owner');
    expect(html).toContain(`<h1>${heading}</h1>`);
    expect(wordsOf(html)).toContain('by owner , just now, at 11:30:00 UTC');
    expect(html).not.toContain('<form');
    expect(html).not.toContain('role="alert"');
  });

  it('answers a question by an option or in words', async () => {
    ask({ kind: 'question', action: null, risk: null, amount: null, options: ['Dublin'] });
    await server.decide('/a/owner', { verb: 'answer', text: 'Neither, wait for Monday.' });
    expect(approvals.taken).toEqual([{ verb: 'answer', text: 'Neither, wait for Monday.' }]);
    const words = wordsOf((await server.get('/a/owner')).html);
    expect(words).toContain('The agent got this answer: Neither, wait for Monday.');
  });

  it.each([
    [{}, 'No button was pressed.'],
    [{ verb: 'toString' }, 'No button was pressed.'],
    [{ verb: 'needs_context' }, 'Please say what is missing.'],
    [{ verb: 'needs_context', comment: ' \n ' }, 'Please say what is missing.'],
    [{ verb: 'answer' }, 'Please write an answer first.'],
    [{ verb: 'answer', text: 'yes' }, 'An approval takes no answer.'],
    [{ verb: 'approve', index: '0' }, 'Two buttons at once.'],
    [{ index: '7' }, 'There is no such option.'],
    [{ index: '-1' }, 'There is no such option.'],
    [{ verb: 'deny', comment: 'x'.repeat(1001) }, 'Please use at most 1000 characters.'],
  ])('refuses %j', async (fields, problem) => {
    ask({ options: ['Half'] });
    const response = await server.decide('/a/owner', fields);
    expect(response.status).toBe(400);
    const html = await response.text();
    expect(wordsOf(html)).toContain(`Nothing was decided. ${problem}`);
    expect(approvals.taken).toEqual([]);
  });

  it('keeps what was written', async () => {
    ask();
    const response = await server.decide('/a/owner', { verb: 'answer', text: 'My <text>' });
    expect(response.status).toBe(400);
    const back = await server.decide('/a/owner', { comment: 'My & comment' });
    expect(await back.text()).toContain('My &amp; comment</textarea>');
  });

  it('refuses a field that comes twice', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    const response = await fetch(`${server.url}/a/owner`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `csrf=${csrf}&verb=deny&verb=approve`,
    });
    expect(response.status).toBe(400);
    expect(approvals.taken).toEqual([]);
  });

  it('takes as much as can be written, in any writing', async () => {
    ask();
    const comment = '\uffe6'.repeat(1000);
    expect((await server.decide('/a/owner', { verb: 'deny', comment })).status).toBe(303);
    ask({ kind: 'question' });
    const text = '\uffe6'.repeat(1500);
    expect((await server.decide('/a/owner', { verb: 'answer', text })).status).toBe(303);
    expect(approvals.taken).toEqual([
      { verb: 'deny', comment },
      { verb: 'answer', text },
    ]);
  });
});

describe('too late', () => {
  it('tells a second choice of the same person that it changed nothing', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    const first = await server.post('/a/owner', { csrf, verb: 'approve' });
    const second = await server.post('/a/owner', { csrf, verb: 'approve' });
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(approvals.taken).toHaveLength(1);
    expect(second.headers.get('location')).toBe('owner?late=approve');
    const words = wordsOf((await server.get('/a/owner?late=approve')).html);
    expect(words).toContain(
      'It was already approved when your Approve arrived, so nothing changed.',
    );
  });

  it('tells who was quicker, and that the other choice does not stand', async () => {
    ask();
    const { csrf } = await server.get('/a/ops');
    await server.decide('/a/owner', { verb: 'approve', comment: 'She is right.' });
    clock.advance(2 * 60_000);
    const response = await server.post('/a/ops', { csrf, verb: 'deny' });
    expect(response.status).toBe(303);
    const { html } = await server.get(`/a/${response.headers.get('location')}`);
    const words = wordsOf(html);
    expect(words).toContain(
      'Your Deny came too late and changed nothing: the request was already approved.',
    );
    expect(words).toContain('by owner , 2 min ago, at 11:30:00 UTC');
    expect(words).toContain('Comment: She is right.');
    expect(approvals.taken).toHaveLength(1);
  });

  it('tells that the time was over, on the page and to whoever decides', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    clock.advance(3 * HOUR);
    const response = await server.post('/a/owner', { csrf, verb: 'approve' });
    expect(response.headers.get('location')).toBe('owner?late=approve');
    const words = wordsOf((await server.get('/a/owner?late=approve')).html);
    expect(words).toContain(
      'Your Approve came too late and changed nothing: the request had expired.',
    );
    expect(words).toContain('Expired, not approved');
    expect(approvals.taken).toEqual([]);
  });

  it('lets an address claim nothing else', async () => {
    ask({ status: 'denied', decidedBy: 'owner', decidedAt: clock.now() });
    for (const late of ['<b>hi</b>', 'toString', 'approved', '__proto__']) {
      const { html } = await server.get(`/a/owner?late=${encodeURIComponent(late)}`);
      expect(html).not.toContain('role="alert"');
    }
  });

  it('of two at once takes one', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    const { csrf: other } = await server.get('/a/ops');
    const answers = await Promise.all([
      server.post('/a/owner', { csrf, verb: 'approve' }),
      server.post('/a/ops', { csrf: other, verb: 'deny' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(approvals.taken).toHaveLength(1);
  });
});
