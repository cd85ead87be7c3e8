import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { linkToken, tokensOf } from '../../../helpers/outbox.ts';
import { WebVisitor } from '../../web/inbox/web-visitor.ts';
import { Person, post } from './person.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { readPage } from '../../../helpers/reading.ts';

const DAY_MS = 24 * 60 * 60_000;
const ANA = 'ana@example.com';
/** Addresses of this machine, each of which is a network of its own. */
const stranger = (n: number): string => `127.0.1.${n}`;
const HOME = '127.0.0.1';

let clock: FakeClock;
let gateway: TestGateway;
let ana: Person;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  ana = new Person(gateway, ANA);
  await ana.project();
  clock.advance(DAY_MS);
});
afterEach(() => gateway.stop());

function postFrom(
  localAddress: string,
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    request(gateway.url + path, { method: 'POST', localAddress, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end(body);
  });
}

/** Starts a sign-in as `svc login` does. */
function startFrom(address: string, email = ANA): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return postFrom(address, '/v1/auth/start', JSON.stringify({ email }), headers);
}

/** Asks for a link to the web inbox. */
async function askFrom(address: string, email = ANA): Promise<number> {
  const visitor = new WebVisitor(gateway);
  await visitor.get('/ui/sign-in');
  await readPage(gateway.url);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = new URLSearchParams({ csrf: visitor.csrf, email }).toString();
  return postFrom(address, '/ui/sign-in', form, headers);
}

async function times(count: number, start: (n: number) => Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 1) statuses.push(await start(n));
  return statuses;
}

const OK = (count: number): number[] => Array.from({ length: count }, () => 200);

async function openInbox(): Promise<void> {
  const token = await linkToken(gateway.folder, 'ui/sign-in', linksOf());
  const page = await new WebVisitor(gateway).enter(`/ui/sign-in/${token}`);
  expect(page.status).toBe(303);
}

const linksOf = (): number => tokensOf(gateway.folder, 'ui/sign-in').length;

describe('seven starts of strangers in other networks', () => {
  it('keep the owner out of neither a known network nor a new one', async () => {
    expect(await times(7, (n) => startFrom(stranger(n + 1)))).toEqual(OK(7));
    expect(await ana.confirm(await ana.start())).toContain('Signed in');
    expect(await startFrom('127.0.0.77')).toBe(200);
  });

  it('keep the owner out of the web inbox neither', async () => {
    expect(await times(7, (n) => askFrom(stranger(n + 1)))).toEqual(OK(7));
    expect(await askFrom(HOME)).toBe(200);
    await openInbox();
    expect(await askFrom('127.0.0.77')).toBe(200);
    await openInbox();
  });

  it('leave the owner’s links good, the newest and the one before', async () => {
    const before = await ana.start();
    await times(7, (n) => startFrom(stranger(n + 1)));
    expect(await ana.confirm(await ana.start())).toContain('Signed in');
    expect(await ana.confirm(before)).toContain('Signed in');
  });
});

describe('a hundred starts from one address', () => {
  it('keep nobody out: others at that address are known there, the rest are elsewhere', async () => {
    const statuses = await times(100, (n) => startFrom(HOME, `victim${n}@example.net`));
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(await ana.confirm(await ana.start())).toContain('Signed in');
    expect(await startFrom(stranger(1), 'ben@example.com')).toBe(200);
    const asked = await times(100, (n) => askFrom(HOME, `victim${n}@example.net`));
    expect(asked.filter((status) => status === 200)).toHaveLength(20);
    expect(await askFrom(HOME)).toBe(200);
    await openInbox();
    expect(await askFrom(stranger(1), 'ben@example.com')).toBe(200);
  });

  it('to one mailbox use up five of the ten starts of strangers', async () => {
    expect(await times(6, () => startFrom(stranger(1)))).toEqual([...OK(5), 429]);
    expect(await times(6, (n) => startFrom(stranger(n + 2)))).toEqual([...OK(5), 429]);
    expect(await times(5, () => startFrom(HOME))).toEqual(OK(5));
    expect(await startFrom(HOME)).toBe(429);
  });
});

describe('a known network', () => {
  it('is one in which the web inbox was opened by mail, too', async () => {
    clock.advance(91 * DAY_MS);
    expect(await askFrom(HOME)).toBe(200);
    await openInbox();
    await times(2, (n) => times(5, () => startFrom(stranger(n + 1))).then(() => 0));
    expect(await startFrom('127.0.0.77')).toBe(429);
    expect(await startFrom(HOME)).toBe(200);
  });

  it('is forgotten 90 days after its last confirmation', async () => {
    clock.advance(91 * DAY_MS);
    await times(2, (n) => times(5, () => startFrom(stranger(n + 1))).then(() => 0));
    expect(await startFrom(HOME)).toBe(429);
  });
});

it('a link to the web inbox that the owner didn’t ask for counts no more once they say so', async () => {
  await times(10, (n) => askFrom(stranger((n % 2) + 1)));
  expect(await askFrom('127.0.0.77')).toBe(429);
  const token = await linkToken(gateway.folder, 'ui/sign-in', linksOf());
  const visitor = new WebVisitor(gateway);
  expect((await visitor.get(`/ui/sign-in/${token}`)).html).toContain('I didn’t ask for this');
  const page = await visitor.post(`/ui/sign-in/${token}`, { fields: { act: 'deny' } });
  expect(page.html).toContain('Nobody was signed in');
  expect((await visitor.get(`/ui/sign-in/${token}`)).status).toBe(404);
  expect(await askFrom('127.0.0.77')).toBe(200);
});

it('stored keys work while nobody can start a sign-in', async () => {
  clock.advance(91 * DAY_MS);
  await times(2, (n) => times(5, () => startFrom(stranger(n + 1))).then(() => 0));
  expect(await startFrom(HOME)).toBe(429);
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  expect((await fetch(`${gateway.url}/v1/whoami`, { headers })).status).toBe(200);
});

it('who is kept out by strangers makes room by the mails that they didn’t ask for', async () => {
  const before = tokensOf(gateway.folder, 's').length;
  const email = 'ben@example.com';
  await times(5, () => startFrom(stranger(1), email));
  await times(5, () => startFrom(stranger(2), email));
  const refused = await post(gateway, '/v1/auth/start', { email });
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('press “This was not me”. That makes room at once.');
  const link = `${gateway.url}/s/${await linkToken(gateway.folder, 's', before + 1)}`;
  await visit(link, { button: 'This was not me' });
  expect((await post(gateway, '/v1/auth/start', { email })).status).toBe(200);
});
