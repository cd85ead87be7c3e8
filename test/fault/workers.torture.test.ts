import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Decider } from '../clients/decider.ts';
import { pythonWithClient } from '../clients/python.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import {
  daemonVictim,
  gatewayVictim,
  teamVictim,
  type StartVictim,
  type Victim,
} from './victims.ts';

const ORDERS = Array.from({ length: 32 }, (_, number) => `order-${number}`);
/** Between the kills the worker gets somewhere, but never through. */
const KILL_AFTER_MS = { least: 300, most: 1000 };
/** A gateway, its replica, and both of them. */
const KILLS_LEAST = 3;
const FAST_KILLS = 5;
const PATIENCE_MS = 240_000;

const folder = temporaryFolder();
let python: string;
beforeAll(async () => {
  python = await pythonWithClient(folder.path);
});
afterAll(() => folder.remove());

/** Calls the server, again while it's away. */
async function api<T>(
  { url, key }: Victim,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T;
    } catch (error) {
      if (tries >= 100) throw error;
      await sleep(200);
    }
  }
}

interface Listed {
  readonly items: readonly { readonly [field: string]: unknown }[];
}

async function itemsOf(victim: Victim, path: string): Promise<Listed['items']> {
  return (await api<Listed>(victim, 'GET', path)).items;
}

/** Kills the server again and again until every order is done; how often that was. */
async function killUntilDone(victim: Victim, worker: ChildProcess): Promise<number> {
  const until = performance.now() + PATIENCE_MS;
  for (let kills = 0; performance.now() < until;) {
    expect(worker.exitCode, 'the worker ended').toBeNull();
    const done = await itemsOf(victim, '/v1/inbox?source=shop&status=done&limit=100');
    if (done.length === ORDERS.length) return kills;
    const { least, most } = KILL_AFTER_MS;
    await sleep(least + Math.random() * (most - least));
    await victim.kill();
    kills += 1;
    await victim.restart();
    // Later on the work may end: on a slow machine it would never get there otherwise.
    if (kills >= FAST_KILLS) await sleep(kills * 500);
  }
  throw new Error('The orders were not done in time.');
}

/** Nothing is lost, and nothing was done twice. */
async function expectOnce(victim: Victim, acts: string): Promise<void> {
  const noted = existsSync(acts) ? readFileSync(acts, 'utf8').trim().split('\n') : [];
  const wanted = ORDERS.flatMap((order) => [`charged ${order}`, `shipped ${order}`]);
  expect(noted.toSorted()).toEqual(wanted.toSorted());
  const requests = await itemsOf(victim, '/v1/requests?limit=100');
  expect(new Set(requests.map((one) => one['event_id'])).size).toBe(ORDERS.length);
  expect(requests).toHaveLength(ORDERS.length);
  expect(requests.filter((one) => one['spent_by'] !== one['event_id'])).toEqual([]);
  expect(await api(victim, 'POST', '/v1/ledger/verify', {})).toMatchObject({ ok: true });
}

const commands: Readonly<Record<string, () => string[]>> = {
  Python: () => [python, 'test/fault/order-worker.py'],
  TypeScript: () => [process.execPath, 'test/fault/order-worker.mjs'],
};

describe.each<[string, string, StartVictim]>([
  ['Python', 'the daemon', daemonVictim],
  ['Python', 'a gateway', gatewayVictim],
  ['Python', 'a gateway or its replica or both', teamVictim],
  ['TypeScript', 'a gateway', gatewayVictim],
  ['TypeScript', 'a gateway or its replica or both', teamVictim],
])('a %s worker while %s is killed again and again', (language, what, start) => {
  it('loses no order, and charges, asks and ships once', async () => {
    const place = join(folder.path, `${language} ${what}`.replaceAll(' ', '-'));
    const victim = await start(place);
    onTestFinished(async () => void (await victim.stop()));
    const acts = `${place}-acts`;
    const source = { type: 'webhook', name: 'shop', verification: 'none' };
    const { url: hook } = await api<{ url: string }>(victim, 'POST', '/v1/sources', source);
    const path = new URL(hook).pathname;
    for (const order of ORDERS) await api(victim, 'POST', path, { order });
    const decider = new Decider(victim.dataFolder, victim.url);
    const env = { ...process.env, ...victim.env, ACTS: acts };
    const [program = '', ...args] = commands[language]?.() ?? [];
    const worker = spawn(program, args, { env, stdio: 'inherit' });
    try {
      expect(await killUntilDone(victim, worker)).toBeGreaterThanOrEqual(KILLS_LEAST);
    } finally {
      const ended = once(worker, 'exit');
      worker.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      await decider.stop();
    }
    await expectOnce(victim, acts);
  });
});
