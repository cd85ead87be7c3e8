import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { Person } from '../auth/sign-in/person.ts';
import { RawApp } from '../auth/oauth/app.ts';
import { Browser } from '../auth/oauth/browser.ts';
import { WebVisitor } from '../web/inbox/web-visitor.ts';
import { linkToken, tokensOf } from '../../helpers/outbox.ts';
import { OWNER, Stage, type Key } from './stage.ts';
import { WAYS } from './ways.ts';

const DAY_MS = 86_400_000;

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.stop());

/** A key in the wrong hands, and how to take it away as docs/team.md says. */
interface Lost {
  readonly key: string;
  readonly end: () => Promise<unknown>;
}

async function leakedKey(): Promise<Lost> {
  const { id, api_key: key } = await stage.newKey(stage.ownerKey, SCOPES);
  return { key, end: () => stage.made(stage.ownerKey, 'DELETE', `/v1/keys/${id}`) };
}

const SCOPES = ['admin', 'ledger:read', 'inbox:read', 'inbox:write', 'approvals', 'disk', 'send'];

/** Moves the clock to the end of access, and lets the gateway do what is due. */
async function passes(days: number): Promise<void> {
  stage.clock.advance(days * DAY_MS);
  await maintain(stage.people.project, stage.clock);
}

async function expiringKey(): Promise<Lost> {
  const { api_key: key } = await stage.made<Key>(stage.ownerKey, 'POST', '/v1/keys', {
    name: 'side door',
    scopes: SCOPES,
    expires_at: new Date(stage.clock.now() + DAY_MS).toISOString(),
  });
  return { key, end: () => passes(1) };
}

async function app(): Promise<Lost & { id: string; app: RawApp; refreshToken: unknown }> {
  const raw = await RawApp.registered(stage.gateway);
  const browser = await Browser.signedIn(stage.gateway, OWNER);
  await browser.openFromApp(raw.url());
  const { next } = await browser.send({ verb: 'allow', lifetime: '7', scopes: browser.boxes() });
  const code = new URL(next ?? '').searchParams.get('code') ?? '';
  const { body } = await raw.exchange(code);
  const key = String(body['access_token']);
  const own = await stage.made<{ key: Key }>(key, 'GET', '/v1/whoami');
  const end = () => stage.made(stage.ownerKey, 'DELETE', `/v1/keys/${own.key.id}`);
  return { key, end, id: own.key.id, app: raw, refreshToken: body['refresh_token'] };
}

async function admin(): Promise<Lost> {
  const owner = await WebVisitor.asOwner(stage.gateway, OWNER);
  const before = tokensOf(stage.gateway.folder, 'ui/join').length;
  const page = `/ui/p/${stage.slug}/members`;
  await owner.get(`${page}?invite=1`);
  const fields = { email: 'ben@example.com', role: 'admin' };
  await owner.post(`${page}?invite=1`, { fields });
  const token = await linkToken(stage.gateway.folder, 'ui/join', before + 1);
  await new WebVisitor(stage.gateway).enter(`/ui/join/${token}`);
  const { api_key: key } = await new Person(stage.gateway, 'ben@example.com').key(stage.projectId);
  const { items } = await stage.made<{ items: { id: string; address: string }[] }>(
    stage.ownerKey,
    'GET',
    '/v1/members',
  );
  const ben = `${page}/${items.find(({ address }) => address === 'b***@example.com')?.id ?? ''}`;
  return {
    key,
    end: async () => {
      await owner.get(`${ben}?step=remove`);
      const answer = await owner.post(ben, { fields: { act: 'remove' } });
      if (answer.status >= 400) throw new Error(answer.html);
    },
  };
}

describe.each<[string, () => Promise<Lost>]>([
  ['a leaked key was revoked', leakedKey],
  ['a leaked key expired', expiringKey],
  ['an app was ended', app],
  [
    'the access of an app ended by itself',
    async () => ({ ...(await app()), end: () => passes(7) }),
  ],
  ['an admin was removed', admin],
])('after %s', (_what, lose) => {
  it('none of the ways that it prepared is open', async () => {
    const { key, end } = await lose();
    const open: [string, () => Promise<boolean>][] = [];
    for (const [what, way] of WAYS) open.push([what, await way(stage, key)]);
    await end();
    const left: string[] = [];
    for (const [what, isOpen] of open) if (await isOpen()) left.push(what);
    expect(left).toEqual([]);
    expect(await stage.reads(stage.ownerKey)).toBe(true);
  }, 120_000);
});
