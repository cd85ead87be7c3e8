import { request } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { visit } from '../../../helpers/page-visitor.ts';
import { Person } from './person.ts';

const DAY_MS = 24 * 60 * 60_000;
const STRANGERS = '127.0.0.9';
const HOME = '127.0.0.1';

let clock: FakeClock;
let gateway: TestGateway;
let ana: Person;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock, signIn: true });
  ana = new Person(gateway, 'ana@example.com');
  await visit((await ana.start()).link, { button: 'Confirm' });
});
afterEach(() => gateway.stop());

/** Starts a sign-in from an address of this machine, each of which is a network of its own. */
function startFrom(localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = `${gateway.url}/v1/auth/start`;
    const headers = { 'content-type': 'application/json' };
    request(url, { method: 'POST', localAddress, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end(JSON.stringify({ email: 'ana@example.com' }));
  });
}

async function statusesFrom(address: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 1) statuses.push(await startFrom(address));
  return statuses;
}

it('strangers who use up their starts do not stop the owner in a known network', async () => {
  clock.advance(DAY_MS);
  expect(await statusesFrom(STRANGERS, 6)).toEqual([200, 200, 200, 200, 200, 429]);
  expect(await startFrom('127.0.0.10')).toBe(429);
  const { link } = await ana.start();
  expect(await visit(link, { button: 'Confirm' })).toContain('Signed in');
  expect(await statusesFrom(HOME, 5)).toEqual([200, 200, 200, 200, 429]);
});

it('a network is forgotten 90 days after its last confirmation', async () => {
  clock.advance(91 * DAY_MS);
  expect(await statusesFrom(STRANGERS, 5)).toEqual([200, 200, 200, 200, 200]);
  expect(await startFrom(HOME)).toBe(429);
});

it('stored keys work while nobody can start a sign-in', async () => {
  clock.advance(91 * DAY_MS);
  await statusesFrom(STRANGERS, 5);
  expect(await startFrom(HOME)).toBe(429);
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  expect((await fetch(`${gateway.url}/v1/whoami`, { headers })).status).toBe(200);
});
