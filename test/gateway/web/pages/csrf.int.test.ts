import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestView } from '../../../../gateway/approvals/approvals.ts';
import { rawRequest } from '../../../helpers/raw-http.ts';
import type { MemoryApprovals } from './memory-approvals.ts';
import { fieldOf, type PagesServer } from './pages-server.ts';
import { Setting, wordsOf } from './setting.ts';
import { readPage } from '../../../helpers/reading.ts';

let approvals: MemoryApprovals;
let server: PagesServer;
let setting: Setting;

beforeEach(async () => {
  setting = await Setting.start();
  ({ approvals, server } = setting);
});

afterEach(() => setting.stop());

function ask(change: Partial<RequestView> = {}): void {
  setting.ask(change);
}

/** Takes the first step, and returns the path of the second. */
async function firstStep(path: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const response = await server.decide(path, fields);
  expect(response.status).toBe(303);
  const location = response.headers.get('location') ?? '';
  expect(location).toMatch(/^[a-z]+\?step=[\w-]+$/);
  return `/a/${location}`;
}

describe('forms from elsewhere', () => {
  it.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'none' }],
    [{ origin: 'not a url' }],
  ])('are refused with %j, right as their signature may be', async (headers) => {
    ask();
    const { csrf } = await server.get('/a/owner');
    const response = await server.post('/a/owner', { csrf, verb: 'approve' }, headers);
    expect(response.status).toBe(403);
    expect(wordsOf(await response.text())).toContain('we ignored it');
    expect(approvals.taken).toEqual([]);
  });

  it('are refused without the signature of the very link', async () => {
    ask();
    const other = await server.get('/a/ops');
    for (const csrf of ['', 'wrong', other.csrf]) {
      const response = await server.post('/a/owner', { csrf, verb: 'deny', comment: 'Kept.' });
      expect(response.status).toBe(403);
      const html = await response.text();
      expect(wordsOf(html)).toContain('Nothing was decided. The page was out of date.');
      expect(html).toContain('Kept.');
    }
    expect(approvals.taken).toEqual([]);
  });

  it('are refused once the link shows something else than their page did', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    ask({ fingerprint: '000000000000', summary: 'Something else' });
    const response = await server.post('/a/owner', { csrf, verb: 'approve' });
    expect(response.status).toBe(403);
    expect(approvals.taken).toEqual([]);
  });

  it('may come under any name of the host, and from browsers that say nothing', async () => {
    for (const origin of [server.url, 'null']) {
      ask();
      const { csrf } = await server.get('/a/owner');
      await readPage(server.url);
      const response = await fetch(`${server.url}/a/owner`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8', origin },
        body: `verb=approve&csrf=${csrf}`,
      });
      expect(response.status).toBe(303);
    }
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'are refused as %j',
    async (type) => {
      ask();
      const { csrf } = await server.get('/a/owner');
      const response = await server.post(
        '/a/owner',
        { csrf, verb: 'approve' },
        { 'content-type': type },
      );
      expect(response.status).toBe(415);
      expect(approvals.taken).toEqual([]);
    },
  );

  it('are refused above 16 KB, however long they say they are', async () => {
    ask();
    const { csrf } = await server.get('/a/owner');
    const response = await server.post('/a/owner', {
      csrf,
      verb: 'deny',
      comment: 'x'.repeat(17_000),
    });
    expect(response.status).toBe(413);
    expect(wordsOf(await response.text())).toContain('That was too large');
    const chunk = Buffer.from(`1000\r\n${'x'.repeat(4096)}\r\n`);
    const raw = await rawRequest(
      `${server.url}/a/owner`,
      [
        'POST {path} HTTP/1.1',
        'Content-Type: application/x-www-form-urlencoded',
        'Transfer-Encoding: chunked',
      ],
      Array.from({ length: 64 }, () => chunk),
    );
    expect(raw.status).toBe(413);
    expect(approvals.taken).toEqual([]);
  });

  it('are refused compressed', async () => {
    ask();
    const response = await server.post(
      '/a/owner',
      { verb: 'deny' },
      { 'content-encoding': 'gzip' },
    );
    expect(response.status).toBe(415);
  });
});

describe('a high risk', () => {
  it('is approved in two steps, the second of which names the action', async () => {
    ask({ risk: 'high', action: 'database.drop' });
    const path = await firstStep('/a/owner', { verb: 'approve', comment: 'Two\nlines' });
    expect(path).not.toContain('lines');
    const { html, csrf } = await server.get(path);
    expect(wordsOf(html)).toContain('Nothing has been decided yet.');
    expect(wordsOf(html)).toContain('Your comment Two lines');
    expect(wordsOf(html)).toContain('Yes, approve database.drop');
    expect(approvals.taken).toEqual([]);
    const second = await server.post(path, { csrf, confirm: fieldOf(html, 'confirm') });
    expect([second.status, second.headers.get('location')]).toEqual([303, 'owner']);
    expect(approvals.taken).toEqual([{ verb: 'approve', comment: 'Two\nlines' }]);
  });

  it('is approved as the second page said, whatever comes along', async () => {
    ask({ risk: 'high', options: ['Half', 'Credit'] });
    const path = await firstStep('/a/owner', { index: '1' });
    const { html, csrf } = await server.get(path);
    expect(wordsOf(html)).toContain('Only like this Credit');
    const confirm = fieldOf(html, 'confirm');
    await server.post(path, { csrf, confirm, verb: 'option', index: '0', comment: 'Other' });
    expect(approvals.taken).toEqual([{ verb: 'option', index: 1 }]);
  });

  it('takes the longest comment there can be through both steps', async () => {
    ask({ risk: 'high' });
    const comment = '\uffe6'.repeat(1000);
    const path = await firstStep('/a/owner', { verb: 'approve', comment });
    const { html, csrf } = await server.get(path);
    await server.post(path, { csrf, confirm: fieldOf(html, 'confirm') });
    expect(approvals.taken).toEqual([{ verb: 'approve', comment }]);
  });

  it('cannot be confirmed without the first step, nor with that of another link or request', async () => {
    ask({ risk: 'high' });
    const other = await server.get(await firstStep('/a/ops', { verb: 'approve' }));
    const { csrf } = await server.get('/a/owner');
    for (const confirm of ['yes', csrf, fieldOf(other.html, 'confirm'), 'A'.repeat(80)]) {
      const response = await server.post('/a/owner', { csrf, verb: 'approve', confirm });
      expect(response.status).toBe(400);
      expect(wordsOf(await response.text())).toContain(
        'Nothing was decided. The page was out of date.',
      );
      const { html } = await server.get(`/a/owner?step=${confirm}`);
      expect(wordsOf(html)).toContain('Approve this action?');
    }
    const own = await server.get(await firstStep('/a/owner', { verb: 'approve' }));
    const confirm = fieldOf(own.html, 'confirm');
    expect((await server.post('/a/owner', { csrf: '', confirm })).status).toBe(403);
    ask({ risk: 'high', fingerprint: '000000000000' });
    const fresh = await server.get('/a/owner');
    expect((await server.post('/a/owner', { csrf: fresh.csrf, confirm })).status).toBe(400);
    expect(approvals.taken).toEqual([]);
  });

  it('has no way but those that are there', async () => {
    ask({ risk: 'high', options: ['Half'] });
    const response = await server.decide('/a/owner', { index: '3' });
    expect(response.status).toBe(400);
    expect(wordsOf(await response.text())).toContain('There is no such option.');
  });

  it('is denied or sent back in one step: that lets nothing happen', async () => {
    ask({ risk: 'high' });
    expect((await server.decide('/a/owner', { verb: 'deny' })).status).toBe(303);
    ask({ risk: 'high' });
    const back = await server.decide('/a/owner', { verb: 'needs_context', comment: 'Why?' });
    expect(back.status).toBe(303);
    expect(approvals.taken.map(({ verb }) => verb)).toEqual(['deny', 'needs_context']);
  });

  it('that is over asks for no second step, and the second page says how it ended', async () => {
    ask({ risk: 'high' });
    const path = await firstStep('/a/owner', { verb: 'approve' });
    const { html, csrf } = await server.get(path);
    await server.decide('/a/ops', { verb: 'deny' });
    expect((await server.get(path)).html).toContain('<h1>Denied</h1>');
    const late = [
      await server.post('/a/owner', { csrf, verb: 'approve' }),
      await server.post(path, { csrf, confirm: fieldOf(html, 'confirm') }),
    ];
    expect(late.map(({ headers }) => headers.get('location'))).toEqual([
      'owner?late=approve',
      'owner?late=approve',
    ]);
    expect(approvals.taken).toEqual([{ verb: 'deny' }]);
  });
});
