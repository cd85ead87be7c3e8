import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { areAlike, contentOf, integrityOf } from '../helpers/convergence.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { Member, newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';

/** Three network namespaces, joined at a bridge in the gateway's: the rest of the machine sees nothing of it. */
const TAG = `svc${process.pid % 100_000}`;
const HUB = `${TAG}-hub`;
const NAMES = ['ada', 'bob'] as const;
const PORT = 4780;
const SECRET = 'whsec_a_secret_that_no_copy_may_show';

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A namespace with an address of 10.77.0.x, on a cable to the hub that can be pulled. */
function plug(name: string, address: string, index: number): void {
  const cable = `${TAG}c${index}`;
  ip('netns', 'add', name);
  ip('link', 'add', cable, 'netns', HUB, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('-n', HUB, 'link', 'set', cable, 'master', 'br0');
  ip('-n', HUB, 'link', 'set', cable, 'up');
  ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
  for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
}

function setCable(index: number, state: 'up' | 'down'): void {
  ip('-n', HUB, 'link', 'set', `${TAG}c${index}`, state);
}

function networks(): boolean {
  if (findProgram('ip') === null || findProgram('sqlite3') === null) return false;
  try {
    ip('netns', 'add', HUB);
    ip('-n', HUB, 'link', 'add', 'br0', 'type', 'bridge');
    ip('-n', HUB, 'link', 'set', 'br0', 'up');
    plug(`${TAG}-gate`, '10.77.0.1', 0);
    NAMES.forEach((name, index) => plug(`${TAG}-${name}`, `10.77.0.${index + 2}`, index + 1));
    return true;
  } catch {
    return false;
  }
}

const ready = required('networks that are cut', networks(), 'needs root, ip and sqlite3');
const folder = temporaryFolder();
const dataFolder = join(folder.path, 'gateway');

let gateway: TeamGateway;
let project: TeamProject;
let members: Member[] = [];
let hook = '';

beforeAll(async () => {
  if (!ready) return;
  project = await newProject(dataFolder, 'team');
  const listen = `10.77.0.1:${PORT}`;
  gateway = await TeamGateway.start({ dataFolder, listen, netns: `${TAG}-gate` });
  members = NAMES.map((name) => {
    const home = join(folder.path, name);
    return new Member({ home, gateway: gateway.url, project, netns: `${TAG}-${name}` });
  });
  for (const one of members) await one.up();
});
afterAll(async () => {
  if (ready) {
    for (const one of members) await one.down().catch(() => undefined);
    await gateway.end();
    for (const name of ['gate', ...NAMES]) ip('netns', 'del', `${TAG}-${name}`);
    ip('netns', 'del', HUB);
  }
  folder.remove();
});

function member(index: number): Member {
  const found = members[index];
  if (!found) throw new Error(`There is no member ${index}.`);
  return found;
}

/** A webhook from the gateway's own network. */
function deliver(name: string): string {
  const curl = ['curl', '-sf', '-H', `webhook-id: ${name}`, '-d', '{"from":"outside"}', hook];
  const args = ['netns', 'exec', `${TAG}-gate`, ...curl];
  const answer = JSON.parse(execFileSync('ip', args, { encoding: 'utf8' })) as { event_id: string };
  return answer.event_id;
}

async function waiting(one: Member): Promise<string> {
  const answer = await one.json(['inbox', 'wait', '--timeout-seconds', '60']);
  return (answer['event'] as { id: string }).id;
}

describe.skipIf(!ready)('two machines on networks of their own', () => {
  it('both wake at a delivery, and one of them gets it', async () => {
    const added = await member(0).json(['source', 'add', 'open']);
    hook = String(added['url']);
    await member(0).json(['kv', 'set', 'color', '"red"']);
    const waits = members.map(waiting);
    await sleep(1500);
    const id = deliver('first');
    expect(await Promise.all(waits)).toEqual([id, id]);
    await member(0).json(['inbox', 'claim', id]);
    await expect(member(1).json(['inbox', 'claim', id])).rejects.toThrow('EVENT_NOT_CLAIMABLE');
    await member(0).json(['inbox', 'ack', id]);
  });

  it('go on reading without the network, and say how old that is', async () => {
    setCable(2, 'down');
    await expect
      .poll(async () => JSON.stringify(await member(1).json(['status'])), { timeout: 60_000 })
      .toContain('"offline"');
    expect(await member(1).json(['kv', 'get', 'color'])).toMatchObject({ value: 'red' });
    expect(await member(1).svc(['status'])).toMatch(/offline/i);
  });

  it('refuse writes meanwhile and name the gateway', async () => {
    // What a cut connection holds may still arrive when the network is back: the refusal says so.
    const refused = member(1).svc(['kv', 'set', 'shade', '"blue"']);
    await expect(refused).rejects.toThrow(/UNAVAILABLE[^]*10\.77\.0\.1/);
    await member(0).json(['kv', 'set', 'color', '"green"']);
    for (let n = 0; n < 20; n += 1) deliver(`meanwhile-${n}`);
  });

  it('agree again once it is back', async () => {
    setCable(2, 'up');
    const source = join(dataFolder, 'projects', project.id, 'project.db');
    for (const one of members) {
      // Ask each time: recording when keys were last used is a commit, too.
      await expect
        .poll(() => [one.replicaFile && contentOf(one.replicaFile), contentOf(source)], {
          timeout: 60_000,
        })
        .toSatisfy(areAlike);
      expect(integrityOf(String(one.replicaFile))).toBe('ok');
      expect(await one.json(['kv', 'get', 'color'])).toMatchObject({ value: 'green' });
      expect(await one.json(['ledger', 'verify'])).toMatchObject({ ok: true });
    }
    await member(1).json(['kv', 'set', 'color', '"blue"']);
    expect(await member(1).json(['kv', 'get', 'color'])).toMatchObject({ value: 'blue' });
  });

  it('hold no secret in clear', async () => {
    const wanted = ['source', 'add', 'signed', '--verification', 'hmac_sha256'];
    const added = await member(0).json([...wanted, '--secret', SECRET]);
    const callback = await member(0).json(['request', 'callback', 'secret']);
    const secrets = [
      SECRET,
      String(callback['secret']),
      String(added['url']).split('/w/')[1] ?? '',
    ];
    const source = join(dataFolder, 'projects', project.id, 'project.db');
    for (const one of members) {
      const file = String(one.replicaFile);
      await expect.poll(() => [contentOf(file), contentOf(source)]).toSatisfy(areAlike);
      const bytes = Buffer.concat([file, `${file}-wal`].map((path) => readFileSync(path)));
      expect(bytes.includes('signed')).toBe(true);
      for (const secret of [...secrets, project.apiKey]) {
        expect(secret.length).toBeGreaterThan(16);
        expect(bytes.includes(secret)).toBe(false);
      }
    }
  });
});
