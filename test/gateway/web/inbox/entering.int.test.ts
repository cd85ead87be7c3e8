import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, mailsOf, tokensOf } from '../../../helpers/outbox.ts';
import { ask, linkFor, pathOf, WebVisitor } from './web-visitor.ts';

const HOUR_MS = 3_600_000;
/** What a browser says of a page that no other page led to. */
const BY_A_PROGRAM = { 'sec-fetch-site': 'none' };
const OWNER = 'ana@example.com';

const clock = new FakeClock();
let gateway: TestGateway;
let list: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  list = await pathOf(gateway);
});
afterAll(() => gateway.stop());

it('the bare address leads a browser to the web inbox, and answers a program in JSON', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const led = await fetch(`${gateway.url}/`, { headers: browser, redirect: 'manual' });
  expect([led.status, led.headers.get('location')]).toEqual([302, '/ui']);
  const program = await fetch(`${gateway.url}/`);
  expect(program.status).toBe(404);
  expect(await program.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
});

describe('a link for a key', () => {
  it('leads to the overview, or to what was asked for', async () => {
    const visitor = new WebVisitor(gateway);
    const first = await visitor.enter(await linkFor(gateway, gateway.apiKey));
    expect([first.status, first.location]).toEqual([303, '/ui']);
    expect((await visitor.get('/ui')).location).toBe(list.replace('requests', 'overview'));
    const id = await ask(gateway);
    const link = await linkFor(gateway, gateway.apiKey, `requests/${id}`);
    expect((await visitor.enter(link)).location).toBe(`${list}/${id}`);
  });

  it('takes no page that leads elsewhere', async () => {
    for (const page of ['..', '//evil.example', 'a/../b', 'https://evil.example', '']) {
      const answer = await gateway.call('POST', '/v1/ui/links', { body: { page } });
      expect([page, answer.status]).toEqual([page, 400]);
    }
    const visitor = new WebVisitor(gateway);
    const link = await linkFor(gateway, gateway.apiKey);
    const entered = await visitor.enter(`${link}?page=//evil.example`);
    expect(entered.location).toBe('/ui');
  });

  it('needs a key', async () => {
    const answer = await gateway.call('POST', '/v1/ui/links', { body: {}, key: 'svc_live_x' });
    expect(answer.status).toBe(401);
  });

  it('may be looked at by whatever looks at links, and used once', async () => {
    const link = await linkFor(gateway, gateway.apiKey);
    const visitor = new WebVisitor(gateway);
    for (let look = 0; look < 10; look += 1) {
      const { status, html } = await visitor.get(link, BY_A_PROGRAM);
      expect(status).toBe(200);
      expect(html).toContain('data-send');
    }
    const used = await Promise.all([visitor.post(link), visitor.post(link), visitor.post(link)]);
    expect(used.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 404, 404]);
    expect((await visitor.get(link)).status).toBe(404);
  });

  it('is pressed by a person where a page led to it, or the browser does not say', async () => {
    const link = await linkFor(gateway, gateway.apiKey);
    const visitor = new WebVisitor(gateway);
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const { status, html } = await visitor.get(link, headers);
      expect([status, html.includes('data-send')]).toEqual([200, false]);
    }
    expect((await visitor.post(link)).status).toBe(303);
  });

  it('is pressed by a person who has the inbox open as somebody else', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    const other = await visitor.get(
      await linkFor(gateway, await gateway.key('disk')),
      BY_A_PROGRAM,
    );
    expect(other.html).toContain('If someone else is signed in here');
    expect(other.html).not.toContain('data-send');
    const same = await visitor.get(await linkFor(gateway, gateway.apiKey), BY_A_PROGRAM);
    expect(same.html).toContain('data-send');
    expect(same.html).not.toContain('as somebody else');
  });

  it('is good for a minute', async () => {
    const link = await linkFor(gateway, gateway.apiKey);
    clock.advance(60_000);
    expect((await new WebVisitor(gateway).get(link)).status).toBe(404);
  });

  it('is no link of another kind', async () => {
    const token = (await linkFor(gateway, gateway.apiKey)).split('/').at(-1);
    expect((await new WebVisitor(gateway).get(`/ui/sign-in/${token}`)).status).toBe(404);
  });
});

describe('a mailed link', () => {
  it('lets the owner in, who presses the button themselves', async () => {
    const visitor = new WebVisitor(gateway);
    await visitor.get('/ui/sign-in');
    const before = tokensOf(gateway.folder, 'ui/sign-in').length;
    const mailed = await visitor.post('/ui/sign-in', { fields: { email: 'ana@EXAMPLE.com' } });
    expect(mailed.html).toContain('Check your email');
    expect(mailed.html).toContain('svc outbox open');
    const link = `/ui/sign-in/${await linkToken(gateway.folder, 'ui/sign-in', before + 1)}`;
    for (let look = 0; look < 10; look += 1) {
      const { status, html } = await visitor.get(link);
      expect([status, html.includes('data-send')]).toEqual([200, false]);
    }
    expect((await visitor.post(link)).status).toBe(303);
    expect((await visitor.get(list)).html).toContain('>owner<');
    expect((await visitor.get(link)).status).toBe(404);
  });

  it('is mailed to anybody alike, and shows a stranger nothing', async () => {
    clock.advance(HOUR_MS);
    const visitor = await WebVisitor.asOwner(gateway, 'mallory@example.com');
    const home = await visitor.get('/ui');
    expect(home.html).toContain('No projects');
    expect((await visitor.get(list)).status).toBe(404);
  });

  it('is mailed five times an hour to one mailbox', async () => {
    clock.advance(HOUR_MS);
    const visitor = new WebVisitor(gateway);
    await visitor.get('/ui/sign-in');
    const statuses: number[] = [];
    for (const tag of ['', '+a', '+b', '+c', '+d', '+e']) {
      const email = `eve${tag}@example.com`;
      statuses.push((await visitor.post('/ui/sign-in', { fields: { email } })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('counts for an hour, whoever opens theirs by a key meanwhile', async () => {
    clock.advance(HOUR_MS);
    const visitor = new WebVisitor(gateway);
    await visitor.get('/ui/sign-in');
    const send = async (): Promise<number> =>
      (await visitor.post('/ui/sign-in', { fields: { email: 'mallory@example.com' } })).status;
    for (let count = 0; count < 5; count++) expect(await send()).toBe(200);
    clock.advance(20 * 60_000);
    await linkFor(gateway, gateway.apiKey);
    expect(await send()).toBe(429);
    clock.advance(40 * 60_000);
    expect(await send()).toBe(200);
  });

  it('goes to no address that is none', async () => {
    const visitor = new WebVisitor(gateway);
    await visitor.get('/ui/sign-in');
    const before = mailsOf(gateway.folder).length;
    const answer = await visitor.post('/ui/sign-in', { fields: { email: 'a@b\r\nBcc: c@d' } });
    expect([answer.status, mailsOf(gateway.folder).length]).toEqual([400, before]);
  });
});

describe('a session', () => {
  it('has a cookie that no script and no other site gets, and is stored as a hash', async () => {
    const visitor = new WebVisitor(gateway);
    const { headers } = await visitor.enter(await linkFor(gateway, gateway.apiKey));
    expect(headers.get('set-cookie')).toMatch(
      /^svc_ui=[\w-]{43}; Max-Age=43200; Path=\/ui; HttpOnly; SameSite=Strict$/,
    );
    const secret = visitor.cookie?.split('=')[1] ?? '';
    const again = new WebVisitor(gateway);
    again.cookie = `svc_ui=${hash('sha256', secret)}`;
    expect((await again.get(list)).status).toBe(401);
  });

  it('is asked for where there is none, or one that is over', async () => {
    for (const cookie of [null, 'svc_ui=junk', `svc_ui=${'A'.repeat(43)}`]) {
      const visitor = new WebVisitor(gateway);
      visitor.cookie = cookie;
      for (const path of ['/ui', list, `${list}/req_${'0'.repeat(26)}`]) {
        const { status, html } = await visitor.get(path);
        expect([cookie, path, status]).toEqual([cookie, path, 401]);
        expect(html).toContain('Email me a link');
      }
      expect((await visitor.get(`/ui/live?project=x`)).status).toBe(401);
    }
  });

  it('ends after 12 hours, however much it is used', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    for (let halves = 1; halves < 24; halves++) {
      clock.advance(HOUR_MS / 2);
      expect((await visitor.get(list)).status).toBe(200);
    }
    clock.advance(HOUR_MS / 2 - 1);
    expect((await visitor.get(list)).status).toBe(200);
    clock.advance(1);
    expect((await visitor.get(list)).status).toBe(401);
  });

  it('ends after an hour in which nothing of it was open', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    clock.advance(HOUR_MS - 1);
    expect((await visitor.get(list)).status).toBe(200);
    clock.advance(HOUR_MS);
    expect((await visitor.get(list)).status).toBe(401);
    expect((await visitor.get(list)).status).toBe(401);
  });

  it('ends with its key', async () => {
    const made = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'short', scopes: ['approvals'] },
    });
    const visitor = await WebVisitor.withKey(gateway, made.body.api_key);
    expect((await visitor.get(list)).status).toBe(200);
    await gateway.call('DELETE', `/v1/keys/${made.body.id}`);
    expect((await visitor.get(list)).status).toBe(401);
    expect((await visitor.get('/ui')).status).toBe(401);
  });

  it('ends with the secret of its key, and a link with it', async () => {
    const made = await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      body: { name: 'leaked', scopes: ['approvals'] },
    });
    const { id, api_key: leaked } = made.body;
    const rotate = async (grace_seconds: number): Promise<string> => {
      const path = `/v1/keys/${id}/rotate`;
      const answer = await gateway.call<{ api_key: string }>('POST', path, {
        body: { grace_seconds },
      });
      return answer.body.api_key;
    };
    const thief = await WebVisitor.withKey(gateway, leaked);
    const link = await linkFor(gateway, leaked);
    const fresh = await rotate(0);
    expect((await thief.get(list)).status).toBe(401);
    const late = new WebVisitor(gateway);
    await late.enter(link);
    expect((await late.get(list)).status).toBe(401);
    const holder = await WebVisitor.withKey(gateway, fresh);
    await rotate(600);
    expect((await holder.get(list)).status).toBe(200);
    expect((await thief.get(list)).status).toBe(401);
    clock.advance(600_000);
    expect((await holder.get(list)).status).toBe(401);
  });

  it('of an owner ends when another one is the owner', async () => {
    clock.advance(HOUR_MS);
    const visitor = await WebVisitor.asOwner(gateway, OWNER);
    await gateway.gateway.setOwner(gateway.projectId, 'bob@example.com');
    expect((await visitor.get(list)).status).toBe(404);
    await gateway.gateway.setOwner(gateway.projectId, OWNER);
    expect((await visitor.get(list)).status).toBe(200);
  });

  it('ends on signing out, and with the next one in the same browser', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    const first = visitor.cookie;
    await visitor.enter(await linkFor(gateway, gateway.apiKey));
    const second = visitor.cookie;
    const other = new WebVisitor(gateway);
    other.cookie = first;
    expect((await other.get(list)).status).toBe(401);
    await visitor.get(list);
    expect((await visitor.post('/ui/sign-out')).location).toBe('/ui/sign-in?out=1');
    expect(visitor.cookie).toBeNull();
    other.cookie = second;
    expect((await other.get(list)).status).toBe(401);
  });

  it('sees what its key may see', async () => {
    const visitor = await WebVisitor.withKey(gateway, await gateway.key('disk'));
    expect((await visitor.get(list)).status).toBe(404);
  });
});

it('over TLS the cookie is bound to the host by its name', async () => {
  const { cookieFor } = await import('../../../../gateway/web/inbox/frame/answers.tsx');
  expect(cookieFor('https://svc.example/base', '/base/ui')).toEqual({
    name: '__Host-svc_ui',
    attributes: 'Path=/; Secure; HttpOnly; SameSite=Strict',
  });
});
