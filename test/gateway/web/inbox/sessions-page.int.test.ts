import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { placeOf } from './places.ts';
import { WebVisitor, type Page } from './web-visitor.ts';

const OWNER = 'ana@example.com';
const HOUR_MS = 3_600_000;
const GONE = 'That session has already ended.';

let clock: FakeClock;
let gateway: TestGateway;
let list: string;

beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  await gateway.gateway.setOwner(gateway.projectId, OWNER);
  list = await placeOf(gateway, 'sessions');
});
afterEach(() => gateway.stop());

async function make(name: string, ...scopes: string[]): Promise<{ id: string; api_key: string }> {
  const body = { name, scopes };
  return (await gateway.call<{ id: string; api_key: string }>('POST', '/v1/keys', { body })).body;
}

/** Who is on the page, in its order. */
function rowsOf({ html }: Page): string[] {
  const rows = html.split('<tbody>')[1]?.split('</tr>').slice(0, -1) ?? [];
  return rows.map((row) => {
    const text = row.replaceAll(/<[^>]*>/g, '|').replaceAll(/\|+/g, '|');
    const name = /key [\w-]+|owner/.exec(text)?.[0] ?? '';
    const how = /by key|by mail/.exec(text)?.[0] ?? '';
    return [name, how, ...(text.includes('This session') ? ['this'] : [])].join(' ');
  });
}

const handlesOf = ({ html }: Page): string[] =>
  [...html.matchAll(/name="session" value="([^"]*)"/g)].map(([, handle = '']) => handle);

const isIn = async (visitor: WebVisitor): Promise<boolean> =>
  (await visitor.get(list)).status === 200;

describe('the sessions of the web inbox', () => {
  it('are listed for an owner: their own, and those of keys', async () => {
    const { api_key: key } = await make('robot', 'disk');
    await WebVisitor.asOwner(gateway, OWNER);
    clock.advance(60_000);
    await WebVisitor.withKey(gateway, key);
    clock.advance(60_000);
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    await WebVisitor.asOwner(gateway, 'mallory@example.com');
    const neighbour = await gateway.gateway.createProject({ name: 'Other', slug: 'other' });
    await WebVisitor.withKey(gateway, neighbour.apiKey);
    clock.advance(4 * 60_000);
    const page = await owner.get(list);
    expect(rowsOf(page)).toEqual(['owner by mail this', 'key robot by key', 'owner by mail']);
    expect(page.html).toContain('4 min ago');
    expect(page.html).toContain('6 min ago');
    expect(page.html).toContain('2026-01-02T15:06:10.000Z');
  });

  it('are those of the key alone for a key, whatever its scopes', async () => {
    const { api_key: key } = await make('robot', 'disk');
    await WebVisitor.asOwner(gateway, OWNER);
    await WebVisitor.withKey(gateway);
    const first = await WebVisitor.withKey(gateway, key);
    const second = await WebVisitor.withKey(gateway, key);
    expect(rowsOf(await second.get(list))).toEqual(['key robot by key this', 'key robot by key']);
    const admin = await WebVisitor.withKey(gateway);
    const seen = rowsOf(await admin.get(list));
    expect(seen).toHaveLength(2);
    expect(seen.join()).not.toMatch(/robot|owner/);
    expect([await isIn(first), await isIn(second)]).toEqual([true, true]);
  });

  it('are all of the machine where it has no owner’s address', async () => {
    const local = await TestGateway.start({ clock });
    const made = await local.call<{ api_key: string }>('POST', '/v1/keys', {
      body: { name: 'robot', scopes: ['disk'] },
    });
    await WebVisitor.withKey(local, made.body.api_key);
    const visitor = await WebVisitor.withKey(local);
    const page = await visitor.get(await placeOf(local, 'sessions'));
    expect(rowsOf(page)).toHaveLength(2);
    expect(rowsOf(page)[1]).toBe('key robot by key');
    await local.stop();
  });

  it('are only those that hold', async () => {
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    const { id, api_key: key } = await make('revoked', 'disk');
    await WebVisitor.withKey(gateway, key);
    await WebVisitor.withKey(gateway, (await make('idle', 'disk')).api_key);
    expect(rowsOf(await owner.get(list))).toHaveLength(3);
    await gateway.call('DELETE', `/v1/keys/${id}`);
    expect(rowsOf(await owner.get(list))).toEqual(['owner by mail this', 'key idle by key']);
    clock.advance(HOUR_MS / 2);
    await owner.get(list);
    clock.advance(HOUR_MS / 2);
    expect(rowsOf(await owner.get(list))).toEqual(['owner by mail this']);
  });

  it('stand on no page with their secrets, their hashes, or a name that holds elsewhere', async () => {
    const [one, other] = [
      await WebVisitor.asOwner(gateway, OWNER),
      await WebVisitor.asOwner(gateway, OWNER),
    ];
    const [page, same] = [await one.get(list), await other.get(list)];
    for (const { cookie } of [one, other]) {
      const secret = cookie?.split('=')[1] ?? '';
      for (const { html } of [page, same]) {
        expect(html).not.toContain(secret);
        expect(html).not.toContain(hash('sha256', secret).slice(0, 16));
      }
    }
    const handles = [...handlesOf(page), ...handlesOf(same)];
    expect(new Set(handles).size).toBe(4);
    const [, foreign = ''] = handlesOf(page);
    const fields = { act: 'end', session: foreign };
    const { status, html } = await other.post(list, { fields });
    expect([status, html.includes(GONE)]).toEqual([404, true]);
    expect([await isIn(one), await isIn(other)]).toEqual([true, true]);
  });
});

describe('a session', () => {
  it('is ended by a button, and no other with it', async () => {
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    clock.advance(1000);
    const kept = await WebVisitor.withKey(gateway);
    clock.advance(1000);
    const lost = await WebVisitor.withKey(gateway, (await make('robot', 'disk')).api_key);
    const [, session = ''] = handlesOf(await owner.get(list));
    const fields = { act: 'end', session };
    const ended = await owner.post(list, { fields });
    expect([ended.status, ended.location]).toEqual([303, list]);
    expect((await lost.get(list)).status).toBe(401);
    expect([await isIn(kept), await isIn(owner)]).toEqual([true, true]);
    const again = await owner.post(list, { fields });
    expect([again.status, again.html.includes(GONE)]).toEqual([404, true]);
  });

  it('ends itself like a sign-out', async () => {
    const visitor = await WebVisitor.withKey(gateway);
    const [session = ''] = handlesOf(await visitor.get(list));
    const ended = await visitor.post(list, { fields: { act: 'end', session } });
    expect([ended.status, ended.location]).toEqual([303, '/ui/sign-in?out=1']);
    expect(await isIn(visitor)).toBe(false);
  });

  it('ends all others in two steps, and those of nobody else', async () => {
    const { api_key: key } = await make('robot', 'disk');
    const owner = await WebVisitor.asOwner(gateway, OWNER);
    const [one, two, three] = [
      await WebVisitor.withKey(gateway, key),
      await WebVisitor.withKey(gateway, key),
      await WebVisitor.withKey(gateway, key),
    ];
    expect((await two.get(list)).html).not.toContain('value="others"');
    const question = await two.get(`${list}?step=others`);
    expect(question.html).toContain('2 sessions of this key end at once');
    expect([await isIn(one), await isIn(three)]).toEqual([true, true]);
    await two.get(list);
    expect((await two.post(list, { fields: { act: 'others' } })).location).toBe(list);
    const left = await Promise.all([one, two, three, owner].map(isIn));
    expect(left).toEqual([false, true, false, true]);
    expect((await two.get(`${list}?step=others`)).html).not.toContain('value="others"');
    const stranger = await WebVisitor.asOwner(gateway, 'mallory@example.com');
    expect((await stranger.get(list)).status).toBe(404);
    const all = await owner.get(`${list}?step=others`);
    expect(all.html).toContain('1 session of this project');
    await owner.post(list, { fields: { act: 'others' } });
    expect([await isIn(two), await isIn(owner)]).toEqual([false, true]);
    expect((await stranger.get('/ui')).html).toContain('No projects');
  });

  it.each([
    ['without its signature', { csrf: false, fields: { act: 'others' } }, 403],
    ['of another session', { foreign: true }, 403],
    [
      'from a page of somebody else',
      { fields: { act: 'others' }, headers: { 'sec-fetch-site': 'cross-site' } },
      403,
    ],
    ['that says nothing', { fields: {} }, 400],
    ['that names none', { fields: { act: 'end' } }, 400],
    ['that names two', { twice: true }, 400],
  ])('is ended by no form %s', async (_how, sent, status) => {
    const [one, other] = [await WebVisitor.withKey(gateway), await WebVisitor.withKey(gateway)];
    const [first = '', second = ''] = handlesOf(await one.get(list));
    const own = `csrf=${one.csrf}`;
    await other.get(list);
    const form =
      'twice' in sent
        ? { body: `${own}&act=end&session=${first}&session=${second}` }
        : 'foreign' in sent
          ? { body: `csrf=${other.csrf}&act=others` }
          : sent;
    const answer = await one.post(list, form);
    expect(answer.status).toBe(status);
    expect([await isIn(one), await isIn(other)]).toEqual([true, true]);
  });
});
