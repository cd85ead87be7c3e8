import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { linkToken, tokensOf } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';
import { freePort } from '../helpers/programs.ts';
import { McpProcess, overHttp, settled, type TaskClient } from '../helpers/task-client.ts';
import { Member, newProject, TeamGateway, type TeamProject } from '../helpers/team.ts';

/** Each round has one task and one victim of each kind in turn. `SVC_TASK_ROUNDS=200` for the long version. */
const ROUNDS = Number(process.env['SVC_TASK_ROUNDS'] ?? 12);
/** A round takes seconds. */
const LONGEST_MS = ROUNDS * 90_000;
const VICTIMS = ['gateway', 'daemon', 'svc mcp'] as const;
const KINDS = ['approval', 'link', 'claim', 'wait'] as const;

const folder = temporaryFolder();
const dataFolder = join(folder.path, 'gateway');

let gateway: TeamGateway;
let project: TeamProject;
let ada: Member;
let bob: Member;
let listen = '';
let bridge: McpProcess;

beforeAll(async () => {
  project = await newProject(dataFolder, 'team');
  listen = `127.0.0.1:${await freePort()}`;
  gateway = await TeamGateway.start({ dataFolder, listen });
  const member = (name: string): Member =>
    new Member({ home: join(folder.path, name), gateway: gateway.url, project });
  [ada, bob] = [member('ada'), member('bob')];
  await Promise.all([ada.up(), bob.up()]);
  bridge = new McpProcess(join(folder.path, 'ada'));
  await bridge.send('tools/call', {
    name: 'file_put',
    arguments: { path: 'may.txt', content_base64: 'TWF5' },
  });
});
afterAll(async () => {
  bridge.kill();
  for (const one of [ada, bob]) await one.down().catch(() => undefined);
  await gateway.end();
  folder.remove();
});

async function kill(victim: (typeof VICTIMS)[number]): Promise<void> {
  if (victim === 'gateway') {
    await gateway.end('SIGKILL');
    gateway = await TeamGateway.start({ dataFolder, listen });
  } else if (victim === 'daemon') {
    const { pid } = ada;
    process.kill(pid, 'SIGKILL');
    while (runs(pid)) await sleep(5);
    await ada.up();
  } else {
    bridge.kill();
    bridge = new McpProcess(join(folder.path, 'ada'));
  }
}

const INPUTS: Readonly<Record<(typeof KINDS)[number], (round: number) => [string, object]>> = {
  approval: (round) => ['ask_approval', { action: 'pr.merge', summary: `Merge #${round}` }],
  link: (round) => ['file_url', { path: 'may.txt', expires_in: 3600 + round }],
  claim: (round) => ['inbox_wait', { claim: true, source: `round-${round}` }],
  wait: (round) => ['inbox_wait', { source: `round-${round}` }],
};

interface Begun {
  readonly id: string;
  /** Where its event is sent, for a wait. */
  readonly hook: string | null;
}

async function begun(kind: (typeof KINDS)[number], round: number): Promise<Begun> {
  const [name, given] = INPUTS[kind](round);
  const isWait = name === 'inbox_wait';
  const source = { type: 'webhook', name: `round-${round}` };
  const added = isWait ? await ada.call('POST', '/v1/sources', source) : null;
  const { result, error } = await bridge.send('tools/call', { name, arguments: given });
  if (result?.['resultType'] !== 'task') throw new Error(JSON.stringify(result ?? error));
  return { id: String(result['taskId']), hook: added && String(added.body['url']) };
}

async function answered({ hook }: Begun, links: number): Promise<void> {
  if (hook === null) {
    const token = await linkToken(dataFolder, 'a', links + 1);
    await visit(`${gateway.url}/a/${token}`, { button: 'Approve' });
    return;
  }
  const sent = await fetch(hook, { method: 'POST', body: '{}' });
  expect(sent.status).toBe(200);
}

/** A claim of a wait belongs to its key, so both members may read it. */
const readers = (): TaskClient[] => [
  bridge,
  ...[ada, bob].map(({ baseUrl }) => overHttp(baseUrl, project.apiKey)),
];

describe(`${ROUNDS} tasks of which each has its gateway, daemon or svc mcp killed`, () => {
  it(
    'are all answered, the same for everybody and at each reading',
    { timeout: LONGEST_MS },
    async () => {
      let claims = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const kind = KINDS[round % KINDS.length] ?? 'approval';
        const victim = VICTIMS[Math.floor(round / KINDS.length) % VICTIMS.length] ?? 'gateway';
        const links = tokensOf(dataFolder, 'a').length;
        const task = await begun(kind, round);
        const { id } = task;
        // One reads while it dies, and nobody while it is decided.
        const held = bridge.send('tasks/get', { taskId: id });
        await kill(victim);
        await held;
        await answered(task, links);
        const first = await settled(id, () => bridge);
        await kill(VICTIMS[(round + 1) % VICTIMS.length] ?? 'daemon');
        for (const reader of readers()) expect(await settled(id, () => reader)).toBe(first);
        expect(first).toContain(
          kind === 'link' ? '/f/' : kind === 'approval' ? 'approved' : 'evt_',
        );
        if (kind === 'claim') claims += 1;
      }
      const { body } = await bob.call('GET', '/v1/ledger?op=inbox_next&limit=500');
      expect(body['items']).toHaveLength(claims);
      expect(await ada.json(['ledger', 'verify'])).toMatchObject({ ok: true });
    },
  );
});
