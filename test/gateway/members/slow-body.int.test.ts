import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebVisitor } from '../web/inbox/web-visitor.ts';
import { Team } from './team.ts';
import { readPage } from '../../helpers/reading.ts';

/** Longer than the gateway needs to judge a request by its headers. */
const JUDGED_MS = 250;

let team: Team;
let owner: WebVisitor;

beforeAll(async () => {
  team = await Team.found();
  owner = await team.owner();
});
afterAll(() => team.stop());

/** Sends half a body; the answer comes after `finish`. */
async function halfSent(path: string, headers: Record<string, string>, body: string) {
  const sent = request(new URL(path, team.gateway.url), {
    method: 'POST',
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
  });
  const answered = new Promise<number>((resolve, reject) => {
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
  });
  await readPage(team.gateway.url);
  sent.write(body.slice(0, 5));
  await sleep(JUDGED_MS);
  return (): Promise<number> => {
    sent.end(body.slice(5));
    return answered;
  };
}

function formOf(visitor: WebVisitor, fields: Record<string, string>) {
  const body = new URLSearchParams({ csrf: visitor.csrf, ...fields }).toString();
  const headers = {
    cookie: visitor.cookie ?? '',
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
    origin: 'null',
  };
  return { body, headers };
}

async function inviteSlowly(visitor: WebVisitor, email: string) {
  const page = `${team.page('members')}?invite=1`;
  await visitor.get(page);
  const { body, headers } = formOf(visitor, { email, role: 'viewer' });
  return halfSent(page, headers, body);
}

const keyNamed = async (name: string): Promise<boolean> => {
  const { body } = await team.call<{ items: { name: string }[] }>('GET', '/v1/keys');
  return body.items.some((one) => one.name === name);
};

describe('a call whose body arrives late', () => {
  it('invites nobody after its owner was removed', async () => {
    const olga = await team.joined('olga@example.com', 'owner');
    const { id } = await team.member('o***@example.com');
    const finish = await inviteSlowly(olga, 'kim@example.com');
    const page = team.page(`members/${id}`);
    await owner.get(`${page}?step=remove`);
    expect((await owner.post(page, { fields: { act: 'remove' } })).status).toBe(303);
    expect(await finish()).toBe(404);
    expect((await team.members()).map(({ address }) => address)).toEqual(['a***@example.com']);
  });

  it('uses no role that its person has lost', async () => {
    const adam = await team.joined('paul@example.com', 'admin');
    const { id } = await team.member('p***@example.com');
    const finish = await inviteSlowly(adam, 'kim@example.com');
    const page = team.page(`members/${id}`);
    await owner.get(page);
    await owner.post(page, { fields: { act: 'role', role: 'viewer' } });
    expect((await team.member('p***@example.com')).role).toBe('viewer');
    expect(await finish()).toBe(404);
    expect((await team.members()).some(({ address }) => address === 'k***@example.com')).toBe(
      false,
    );
  });

  it('makes no key with one that was revoked', async () => {
    const made = await team.call<{ id: string; api_key: string }>('POST', '/v1/keys', {
      name: 'short',
      scopes: ['admin', 'disk'],
    });
    const headers = {
      authorization: `Bearer ${made.body.api_key}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ name: 'side door', scopes: ['disk'] });
    const finish = await halfSent('/v1/keys', headers, body);
    await team.call('DELETE', `/v1/keys/${made.body.id}`);
    expect(await finish()).toBe(401);
    expect(await keyNamed('side door')).toBe(false);
  });
});
