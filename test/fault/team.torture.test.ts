import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { areAlike, contentOf, integrityOf } from '../helpers/convergence.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { findProgram, freePort } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { Member, newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';

/** Each round kills the gateway or a daemon, in turn. `SVC_DRILL_ROUNDS=40` for the long version. */
const ROUNDS = Number(process.env['SVC_DRILL_ROUNDS'] ?? 8);

const ready = required('the team drill', findProgram('sqlite3') !== null, 'sqlite3 is missing');
const folder = temporaryFolder();
const dataFolder = join(folder.path, 'gateway');

let gateway: TeamGateway;
let project: TeamProject;
let members: Member[] = [];
let hook = '';
let listen = '';

beforeAll(async () => {
  if (!ready) return;
  project = await newProject(dataFolder, 'team');
  listen = `127.0.0.1:${await freePort()}`;
  gateway = await TeamGateway.start({ dataFolder, listen });
  members = ['ada', 'bob'].map(
    (name) => new Member({ home: join(folder.path, name), gateway: gateway.url, project }),
  );
  for (const one of members) await one.up();
});
afterAll(async () => {
  if (ready) {
    for (const one of members) await one.down().catch(() => undefined);
    await gateway.end();
  }
  folder.remove();
});

function member(index: number): Member {
  const found = members[index];
  if (!found) throw new Error(`There is no member ${index}.`);
  return found;
}

/** Posts to the gateway's hook; null without an answer, or if it isn't 200. */
async function deliver(name: string): Promise<string | null> {
  const headers = { 'webhook-id': name, 'content-type': 'application/json' };
  const body = JSON.stringify({ name, text: 'x'.repeat(200) });
  const response = await fetch(hook, { method: 'POST', headers, body }).catch(() => null);
  if (response?.status !== 200) return null;
  const answer = (await response.json().catch(() => null)) as { event_id: string } | null;
  return answer?.event_id ?? null;
}

/** The files of all members, once each is as far as the gateway. */
async function converged(): Promise<void> {
  const source = join(dataFolder, 'projects', project.id, 'project.db');
  for (const one of members) {
    // Ask each time: recording when keys were last used is a commit, too.
    await expect
      .poll(() => [one.replicaFile && contentOf(one.replicaFile), contentOf(source)], {
        timeout: 60_000,
      })
      .toSatisfy(areAlike);
    expect(integrityOf(String(one.replicaFile))).toBe('ok');
  }
  expect(integrityOf(source)).toBe('ok');
}

describe.skipIf(!ready)('two machines and their gateway', () => {
  it('take a webhook to a waiter on each, and give it to one of them', async () => {
    const added = await member(0).call('POST', '/v1/sources', { type: 'webhook', name: 'open' });
    expect(added.status).toBe(201);
    hook = String(added.body['url']);
    expect(hook.startsWith(gateway.url)).toBe(true);
    const waits = members.map((one) => one.call('GET', '/v1/inbox/wait?timeout_seconds=30'));
    await sleep(300);
    const id = await deliver('first');
    for (const { body } of await Promise.all(waits)) expect(body['event']).toMatchObject({ id });
    const claim = { event_id: id };
    expect((await member(0).call('POST', '/v1/inbox/claim', claim)).status).toBe(200);
    expect((await member(1).call('POST', '/v1/inbox/claim', claim)).body).toMatchObject({
      error: { code: 'EVENT_NOT_CLAIMABLE' },
    });
    expect((await member(0).call('POST', '/v1/inbox/ack', claim)).status).toBe(200);
  });

  it('answer reads from a copy of their own, at once after a write', async () => {
    for (const [index, one] of members.entries()) {
      const put = await one.call('PUT', `/v1/kv/mine-${index}`, { index });
      expect(Number(put.headers.get('x-service-position'))).toBeGreaterThan(0);
      const got = await one.call('GET', `/v1/kv/mine-${index}`);
      expect(got.body).toMatchObject({ value: { index } });
      expect(got.headers.get('x-service-replica-age')).not.toBeNull();
      expect(got.headers.get('x-service-stale')).toBeNull();
    }
    await converged();
  });

  it('lose nothing of what was acknowledged when either is killed', async () => {
    const accepted = new Map<string, string>();
    const written = new Map<string, number>();
    let count = 0;
    const ended = new AbortController();
    const send = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        const name = `drill-${(count += 1)}`;
        const id = await deliver(name);
        if (id !== null) accepted.set(name, id);
        else await sleep(50);
      }
    };
    const write = async (index: number): Promise<void> => {
      for (let n = 0; !ended.signal.aborted; n += 1) {
        const put = await member(index)
          .call('PUT', `/v1/kv/drill-${index}-${n}`, { n })
          .catch(() => null);
        if (put?.status === 200) written.set(`drill-${index}-${n}`, n);
        else await sleep(50);
      }
    };
    const load = [send(), send(), write(0), write(1)];
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(200 + Math.random() * 800);
      if (round % 2 === 0) {
        await gateway.end('SIGKILL');
        gateway = await TeamGateway.start({ dataFolder, listen });
      } else {
        const victim = member((round >> 1) % 2);
        process.kill(victim.pid, 'SIGKILL');
        await victim.up();
      }
    }
    await sleep(1000);
    ended.abort();
    await Promise.all(load);
    expect(accepted.size).toBeGreaterThan(ROUNDS);
    expect(written.size).toBeGreaterThan(ROUNDS);
    await converged();
    for (const [name, id] of accepted) expect(await deliver(name)).toBe(id);
    for (const [key, n] of written) {
      const got = await member(n % 2).call('GET', `/v1/kv/${key}`);
      expect({ key, ...got.body }).toMatchObject({ key, value: { n } });
    }
    for (const one of members) {
      expect(await one.json(['ledger', 'verify'])).toMatchObject({ ok: true });
      expect(await one.json(['status'])).toMatchObject({ mode: 'replica' });
    }
    await converged();
  });
});
