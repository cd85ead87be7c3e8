import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock, TestGateway, temporaryFolder } from '../helpers/gateway.ts';

const LEASE_SECONDS = 30;
const ATTEMPTS = 5;

const folder = temporaryFolder();
const clock = new FakeClock();
let gateway: TestGateway;
let hook = '';
beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  hook = await gateway.addSource({ name: 'open' });
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

/** Works until nothing is pending; the signal that ended it before, if one did. */
async function work(exec: string): Promise<NodeJS.Signals | null> {
  const args = ['inbox', 'work', '--drain', '--lease-seconds', String(LEASE_SECONDS)];
  const child = spawn(process.execPath, [resolve('dist/svc.cjs'), ...args, '--exec', exec], {
    stdio: 'ignore',
    env: {
      ...process.env,
      SVC_HOME: folder.path,
      SVC_GATEWAY: gateway.url,
      SVC_API_KEY: gateway.apiKey,
    },
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

async function deliver(name: string): Promise<string> {
  return String((await gateway.deliver(hook, name)).body['event_id']);
}

async function idsOf(status: string): Promise<string[]> {
  const path = `/v1/inbox?status=${status}&limit=100`;
  const { body } = await gateway.call<{ items: { id: string }[] }>('GET', path);
  return body.items.map(({ id }) => id);
}

describe('an event that kills whoever works on it', () => {
  it('holds up nobody behind it, and is dead after five of them', async () => {
    const poison = await deliver('poison');
    const script = join(folder.path, 'work.sh');
    writeFileSync(script, `[ "$SVC_EVENT_ID" = ${poison} ] && kill -9 "$1"; exit 0`);
    const exec = `sh ${script} "$PPID"`;
    const behind: string[] = [];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      behind.push(await deliver(`a ${attempt}`), await deliver(`b ${attempt}`));
      expect(await work(exec)).toBe('SIGKILL');
      expect(await idsOf('claimed')).toEqual([poison]);
      // While the dead worker's lease lasts, the next worker gets the event behind it.
      expect(await work(exec)).toBeNull();
      expect(new Set(await idsOf('done'))).toEqual(new Set(behind));
      clock.advance(LEASE_SECONDS * 1000);
    }
    expect(await idsOf('pending')).toEqual([]);
    expect(await idsOf('dead')).toEqual([poison]);
    expect(await work(exec)).toBeNull();
    const ledger = await gateway.call<{ items: { op: string; subject: string }[] }>(
      'GET',
      '/v1/ledger?limit=500',
    );
    const claims = ledger.body.items.filter(({ op }) => op === 'inbox_claim');
    expect(claims.filter(({ subject }) => subject === poison)).toHaveLength(ATTEMPTS);
    const back = await gateway.call('POST', '/v1/inbox/requeue', { body: { event_id: poison } });
    expect(back.body).toEqual({ event_id: poison, status: 'pending' });
  });
});
