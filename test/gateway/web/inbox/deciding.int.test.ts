import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { ask, pathOf, WebVisitor } from './web-visitor.ts';

const OWNER = 'ana@example.com';

const clock = new FakeClock();
let gateway: TestGateway;
let owner: WebVisitor;
let withKey: WebVisitor;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  owner = await WebVisitor.asOwner(gateway, OWNER);
  withKey = await WebVisitor.withKey(gateway);
});
afterAll(() => gateway.stop());

async function status(id: string): Promise<Record<string, unknown>> {
  return (await gateway.call('GET', `/v1/requests/${id}`)).body;
}

describe('the owner', () => {
  it.each([
    [
      { verb: 'approve', comment: 'Fine.' },
      { status: 'approved', comment: 'Fine.' },
    ],
    [{ verb: 'deny' }, { status: 'denied' }],
    [{ index: '1' }, { status: 'modified', decision: 'Half' }],
    [
      { verb: 'needs_context', comment: 'Which?' },
      { status: 'needs_context', comment: 'Which?' },
    ],
  ])('decides by the forms of the page: %j', async (fields, expected) => {
    const id = await ask(gateway, { options: ['All', 'Half'] });
    const path = await pathOf(gateway, id);
    expect((await owner.get(path)).html).toContain('Refund Jane');
    expect((await owner.post(path, { fields })).location).toBe(path);
    const { decided_by, ...now } = await status(id);
    expect(now).toMatchObject(expected);
    expect(decided_by).toMatch(/^channel:chn_/);
    expect((await owner.get(path)).html).toContain('This is final');
  });

  it('answers a question', async () => {
    const id = await ask(gateway, { question: 'Where?' });
    const path = await pathOf(gateway, id);
    await owner.get(path);
    await owner.post(path, { fields: { verb: 'answer', text: 'Dublin' } });
    expect(await status(id)).toMatchObject({ status: 'answered', decision: 'Dublin' });
  });

  it('is asked twice where the risk is high', async () => {
    const id = await ask(gateway, { risk: 'high', details: 'All of it.', bind: { to: 'Jane' } });
    const path = await pathOf(gateway, id);
    await owner.get(path);
    const { location } = await owner.post(path, { fields: { verb: 'approve' } });
    expect(location).toMatch(/\?step=/);
    expect((await status(id))['status']).toBe('pending');
    const { html } = await owner.get(location ?? '');
    expect(html).toContain('Approve this high-risk action?');
    // What is decided stands here, too.
    expect(html).toContain('All of it.');
    expect(html).toMatch(/Exactly this will be done.*?Jane/s);
    const confirm = /name="confirm" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const other = await pathOf(
      gateway,
      await ask(gateway, { risk: 'high', details: 'All of it.' }),
    );
    expect((await owner.post(other, { fields: { confirm } })).status).toBe(400);
    await owner.post(path, { fields: { confirm } });
    expect((await status(id))['status']).toBe('approved');
  });

  it('who comes too late is told so', async () => {
    const id = await ask(gateway);
    const path = await pathOf(gateway, id);
    await owner.get(path);
    await owner.post(path, { fields: { verb: 'deny' } });
    const { location } = await owner.post(path, { fields: { verb: 'approve' } });
    expect(location).toBe(`${path}?late=approve`);
    expect((await owner.get(location ?? '')).html).toContain('too late');
  });

  it('is told what is wrong with a form, and nothing is decided', async () => {
    const id = await ask(gateway);
    const path = await pathOf(gateway, id);
    await owner.get(path);
    for (const fields of [{ verb: 'explode' }, { index: '7' }, { verb: 'needs_context' }]) {
      const { status: code, html } = await owner.post(path, { fields });
      expect([code, html.includes('Nothing was decided')]).toEqual([400, true]);
    }
    expect((await status(id))['status']).toBe('pending');
  });
});

describe('a session of a key', () => {
  it('looks and never decides', async () => {
    const id = await ask(gateway);
    const path = await pathOf(gateway, id);
    const { html } = await withKey.get(path);
    expect(html).toContain('A key can’t decide anything');
    expect(html).not.toContain('value="approve"');
    for (const fields of [{ verb: 'approve' }, { verb: 'deny' }, { index: '0' }]) {
      const refused = await withKey.post(path, { fields });
      expect(refused.status).toBe(403);
      expect(refused.html).toContain('Sign in by email');
    }
    expect((await status(id))['status']).toBe('pending');
  });
});

describe('a form', () => {
  it.each([
    ['of another site', { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['of another site of the same domain', { headers: { 'sec-fetch-site': 'same-site' } }],
    ['of another origin', { headers: { origin: 'https://evil.example' } }],
    ['without what its page said', { csrf: false }],
    ['with what another page said', { fields: { csrf: 'AAAA' } }],
    ['that is none', { headers: { 'content-type': 'text/plain' } }],
  ])('%s does nothing', async (_name, sent) => {
    const id = await ask(gateway);
    const path = await pathOf(gateway, id);
    await owner.get(path);
    const { status: code } = await owner.post(path, {
      ...sent,
      fields: { verb: 'approve', ...('fields' in sent ? sent.fields : {}) },
    });
    expect(code).toBe(403);
    expect((await status(id))['status']).toBe('pending');
  });

  it('of another session does nothing', async () => {
    const id = await ask(gateway);
    const path = await pathOf(gateway, id);
    const other = await WebVisitor.asOwner(gateway, OWNER);
    await other.get(path);
    const { status: code } = await owner.post(path, {
      fields: { verb: 'approve', csrf: other.csrf },
    });
    expect(code).toBe(403);
    expect((await status(id))['status']).toBe('pending');
  });
});

describe('what belongs to another project', () => {
  it('is not there', async () => {
    const { project, apiKey } = await gateway.gateway.createProject({
      name: 'Other',
      slug: 'other',
      owner: 'bob@example.com',
    });
    const { body } = await gateway.call<{ request_id: string }>('POST', '/v1/requests', {
      body: { action: 'a', summary: 'Secret of Bob', wait_seconds: 0 },
      key: apiKey,
    });
    const id = body.request_id;
    for (const visitor of [owner, withKey]) {
      await visitor.get(await pathOf(gateway));
      for (const path of [
        await pathOf(gateway, id),
        `/ui/p/${project.slug}/requests`,
        `/ui/p/${project.slug}/requests/${id}`,
        '/ui/p/nowhere/requests',
        '/ui/p/other/elsewhere',
      ]) {
        const looked = await visitor.get(path);
        expect([path, looked.status]).toEqual([path, 404]);
        expect(looked.html).not.toContain('Secret of Bob');
        await visitor.get(await pathOf(gateway));
        const sent = await visitor.post(path, { fields: { verb: 'approve' } });
        expect([path, sent.status]).toEqual([path, 404]);
      }
      const stream = await visitor.get(`/ui/live?project=${project.slug}`);
      expect(stream.status).toBe(401);
    }
  });
});

describe('the list', () => {
  it('goes on page by page, and keeps its filter', async () => {
    for (let at = 0; at < 35; at += 1) {
      const id = await ask(gateway, { action: `a${at}`, summary: `Number ${at}.` });
      const path = await pathOf(gateway, id);
      await owner.get(path);
      await owner.post(path, { fields: { verb: 'approve' } });
    }
    const first = await owner.get(`${await pathOf(gateway)}?status=approved`);
    expect(first.html).toContain('Number 34.');
    expect(first.html).not.toContain('Number 2.');
    const older = /href="([^"]*cursor[^"]*)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(older).toContain('status=approved');
    const next = await owner.get((await pathOf(gateway)) + older);
    expect(next.html).toContain('Number 2.');
    expect(next.html).not.toContain('Waiting for a decision');
    expect((await owner.get(`${await pathOf(gateway)}?cursor=junk`)).status).toBe(404);
  });

  it('tells in the title how many wait', async () => {
    const { html } = await owner.get(await pathOf(gateway));
    expect(html).toMatch(/<title>\((?:\d+|20\+)\) Requests · Test<\/title>/);
  });
});

it('without an owner’s address whoever uses the machine decides', async () => {
  const local = await TestGateway.start({ clock });
  const visitor = await WebVisitor.withKey(local);
  const path = await pathOf(local, await ask(local));
  expect((await visitor.get(await pathOf(local))).html).toContain('anyone using this machine');
  await visitor.get(path);
  expect((await visitor.post(path, { fields: { verb: 'approve' } })).location).toBe(path);
  expect((await visitor.get(path)).html).toContain('Approved');
  await local.gateway.setOwner(local.projectId, OWNER);
  const later = await pathOf(local, await ask(local));
  expect((await visitor.get(later)).html).toContain('A key can’t decide anything');
  expect((await visitor.post(later, { fields: { verb: 'approve' } })).status).toBe(403);
  await local.stop();
});

it('a hosted gateway lets no key decide, whoever the owner is', async () => {
  const hosted = await TestGateway.start({ clock, signIn: true });
  const visitor = await WebVisitor.withKey(hosted);
  const path = await pathOf(hosted, await ask(hosted));
  await visitor.get(path);
  expect((await visitor.post(path, { fields: { verb: 'approve' } })).status).toBe(403);
  await hosted.stop();
});

it('is kept by nobody, framed by nobody, and tells nobody where its reader came from', async () => {
  const { headers } = await owner.get(await pathOf(gateway));
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'nonce-[\w+/=]{24}'; style-src 'nonce-[\w+/=]{24}'; img-src http:\/\/127\.0\.0\.1:\d+\/ui\/icon\.png; connect-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
});
