import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../helpers/gateway.ts';
import { Team } from '../../members/team.ts';
import { CALLBACK, RawApp } from './app.ts';
import { Browser } from './browser.ts';
import { readPage } from '../../../helpers/reading.ts';

const HOUR_MS = 3_600_000;

const clock = new FakeClock();
let team: Team;
let app: RawApp;
beforeAll(async () => {
  team = await Team.found(clock);
  app = await RawApp.registered(team.gateway);
});
afterAll(() => team.stop());
// No more than so many may sign in an hour.
beforeEach(() => clock.advance(HOUR_MS));

interface Listed {
  readonly id: string;
  readonly created_by: string;
}

async function newestKey(): Promise<Listed | undefined> {
  return (await team.call<{ items: Listed[] }>('GET', '/v1/keys')).body.items.at(-1);
}

async function joined(email: string, role: string): Promise<Browser> {
  await team.joined(email, role);
  return Browser.signedIn(team.gateway, email);
}

/** Tokens that a person gave with everything that the page offers. */
async function allowedBy(browser: Browser): Promise<Record<string, unknown>> {
  await browser.openFromApp(app.url());
  const { next } = await browser.send({ verb: 'allow', lifetime: '30', scopes: browser.boxes() });
  const code = new URL(next ?? '').searchParams.get('code') ?? '';
  return (await app.exchange(code)).body;
}

async function project() {
  const found = await team.gateway.gateway.projects.find(team.projectId);
  if (!found) throw new Error('There is no project.');
  return found;
}

/** Removes a member by the owner's button. */
async function remove(memberId: string): Promise<void> {
  const owner = await team.owner();
  const page = team.page(`members/${memberId}`);
  await owner.get(`${page}?step=remove`);
  expect((await owner.post(page, { fields: { act: 'remove' } })).status).toBeLessThan(400);
}

/** The fields of a consent, for the command in the transaction. */
function consent(memberId: string, scopes: readonly ('admin' | 'send')[]) {
  const now = clock.now();
  return {
    keyId: `key_${'0'.repeat(26)}`,
    name: 'Raw',
    client: 'app.example.com',
    clientId: 'https://app.example.com/client.json',
    scopes,
    memberId,
    redirectUri: CALLBACK,
    resource: `${team.gateway.url}/mcp`,
    codeHash: 'code',
    codeChallenge: 'challenge',
    emptyHash: 'empty',
    endsAt: now + 1000,
    now,
  };
}

const WORK = ['ledger:read', 'inbox:read', 'inbox:write', 'approvals', 'disk', 'disk:read', 'send'];

describe.each([
  ['admin', 'ada@example.com', ['admin', ...WORK]],
  ['member', 'max@example.com', WORK],
])('an app that a person with the role %s lets in', (role, email, scopes) => {
  it('gets no more than the role, and ends with the member at once', async () => {
    const browser = await joined(email, role);
    const tokens = await allowedBy(browser);
    expect(tokens['scope']).toBe(scopes.join(' '));
    expect(await app.works(tokens['access_token'])).toBe(true);
    const { id } = (await team.members()).find((one) => one.role === role) ?? { id: '' };
    expect((await newestKey())?.created_by).toBe(id);
    await remove(id);
    expect(await app.works(tokens['access_token'])).toBe(false);
    const again = await app.refresh(tokens['refresh_token']);
    expect(again.body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('an app of a member', () => {
  it('ends with the member also where another gateway knew them under another account', async () => {
    const browser = await joined('mia@example.com', 'member');
    const { access_token: token } = await allowedBy(browser);
    const { writes } = await project();
    const made = await writes.run('signInKey', {
      id: `key_${'1'.repeat(26)}`,
      name: 'elsewhere',
      hash: 'elsewhere',
      last4: 'here',
      scopes: ['send'],
      accountId: 'acc_elsewhere',
      address: 'mia@example.com',
      now: clock.now(),
    });
    expect(made.outcome).toBe('made');
    const { id } = await team.member('m***@example.com');
    await remove(id);
    expect(await app.works(token)).toBe(false);
  });
});

describe('a person who is removed while they allow an app', () => {
  it('gives it nothing with a form that was half sent', async () => {
    const browser = await joined('eve@example.com', 'member');
    await browser.openFromApp(app.url());
    const { id } = await team.member('e***@example.com');
    const form = new URLSearchParams({ verb: 'allow', lifetime: '30', project: team.slug });
    for (const scope of browser.boxes()) form.append('scopes', scope);
    form.append('csrf', /name="csrf" value="([^"]*)"/.exec(browser.page.html)?.[1] ?? '');
    const body = form.toString();
    await readPage(team.gateway.url);
    const sending = request(team.gateway.url + app.url(), {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
        cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; '),
        'sec-fetch-site': 'same-origin',
      },
    });
    const answered = new Promise<number | undefined>((resolve) => {
      sending.once('response', (answer) => resolve(answer.resume().statusCode));
    });
    sending.write(body.slice(0, 20));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await remove(id);
    sending.end(body.slice(20));
    expect(await answered).toBeGreaterThanOrEqual(400);
    expect((await newestKey())?.created_by).not.toBe(id);
  });

  it('is noticed in the transaction, and so is a role that shrank', async () => {
    await team.joined('gus@example.com', 'member');
    const { id } = await team.member('g***@example.com');
    const { writes } = await project();
    expect(await writes.run('oauthConsent', consent(id, ['admin', 'send']))).toBe('changed');
    await remove(id);
    expect(await writes.run('oauthConsent', consent(id, ['send']))).toBe('changed');
    expect((await newestKey())?.id).not.toBe(`key_${'0'.repeat(26)}`);
  });
});
