import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { Gateways } from '../helpers/gateways.ts';
import { tokensOf } from '../helpers/outbox.ts';
import { visit } from '../helpers/page-visitor.ts';
import { findProgram } from '../helpers/programs.ts';
import { required } from '../helpers/require.ts';
import { overHttp, settled, type TaskClient } from '../helpers/task-client.ts';
import type { TeamProject } from '../helpers/team.ts';

/** `SVC_TASK_ROUNDS=200` for the long version. */
const ROUNDS = Number(process.env['SVC_TASK_ROUNDS'] ?? 3);
/** A round takes seconds. */
const LONGEST_MS = ROUNDS * 300_000;
const KINDS = ['approval', 'claim', 'wait'] as const;

const nginx = findProgram('nginx');

/** As senders do: again, until it is taken. */
async function deliver(hook: string): Promise<void> {
  while (!(await fetch(hook, { method: 'POST', body: '{}' }).catch(() => null))?.ok) {
    await sleep(50);
  }
}

describe.runIf(required('nginx', nginx !== null, 'apt-get install -y nginx-light'))(
  `${ROUNDS} tasks of which each has one of two gateways killed`,
  () => {
    const folder = temporaryFolder();
    let gateways: Gateways;
    let project: TeamProject;
    let agent: TaskClient;

    beforeAll(async () => {
      const wanted = { folder: folder.path, nginx: nginx ?? '', publicRoad: 'even' } as const;
      gateways = await Gateways.start(wanted);
      const [made] = await gateways.newProjects('tasks');
      if (!made) throw new Error('There is no project.');
      project = made;
      agent = overHttp(gateways.urls.even, project.apiKey);
    });
    afterAll(async () => {
      await gateways.stop();
      folder.remove();
    });

    /** The links of both gateways: whichever takes a letter writes it. */
    const links = (): string[] => [0, 1].flatMap((n) => tokensOf(gateways.dataOf(n), 'a'));

    async function addSource(name: string): Promise<string> {
      const added = await fetch(`${gateways.urls.even}/v1/sources`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${project.apiKey}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ type: 'webhook', name }),
      });
      return ((await added.json()) as { url: string }).url;
    }

    async function begun(name: string, input: object): Promise<string> {
      for (;;) {
        const answer = await agent
          .send('tools/call', { name, arguments: input })
          .catch(() => ({ result: undefined }));
        const { result } = answer;
        if (result?.['resultType'] === 'task') return String(result['taskId']);
        if (result) throw new Error(JSON.stringify(result));
        await sleep(50);
      }
    }

    async function approveNew(before: ReadonlySet<string>): Promise<void> {
      let found: string | undefined;
      while (found === undefined) {
        found = links().find((token) => !before.has(token));
        if (found === undefined) await sleep(20);
      }
      for (let isDone = false; !isDone;) {
        const link = `${gateways.urls.even}/a/${found}`;
        isDone = await visit(link, { button: 'Approve' }).then(
          () => true,
          async (error: unknown) => {
            await sleep(50);
            // The press was taken, and only its answer was lost.
            return String(error).includes('No button');
          },
        );
      }
    }

    it(
      'are all answered, the same before and after it is back',
      { timeout: LONGEST_MS },
      async () => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const kind = KINDS[round % KINDS.length];
          const before = new Set(links());
          const source = `round-${round}`;
          const hook = await addSource(source);
          const id =
            kind === 'approval'
              ? await begun('ask_approval', { action: 'pr.merge', summary: `Merge #${round}` })
              : await begun('inbox_wait', { source, claim: kind === 'claim' });
          await gateways.kill(round % 2);
          if (kind === 'approval') await approveNew(before);
          else await deliver(hook);
          const first = await settled(id, () => agent);
          expect(first).toContain(kind === 'approval' ? 'approved' : source);
          await gateways.startOne(round % 2);
          for (const listen of gateways.listens) {
            const direct = overHttp(`http://${listen}`, project.apiKey);
            expect(await settled(id, () => direct)).toBe(first);
          }
        }
      },
    );
  },
);
