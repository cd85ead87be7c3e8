import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { Gateways } from '../../helpers/gateways.ts';
import { findProgram } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';
import { addHooks, SteadySenders } from '../../helpers/steady-senders.ts';
import type { TeamProject } from '../../helpers/team.ts';

const haproxy = findProgram('haproxy', ['/usr/sbin']);
/** Several, so that either gateway has some. */
const PROJECTS = 8;

describe.runIf(required('HAProxy', haproxy !== null, 'apt-get install -y haproxy'))(
  'two gateways behind HAProxy as gateway/deploy/haproxy.cfg has it',
  () => {
    const folder = temporaryFolder();
    let gateways: Gateways;
    let projects: TeamProject[];
    let hooks: ReadonlyMap<string, string>;

    beforeAll(async () => {
      const wanted = { folder: folder.path, publicRoad: 'hashed', haproxy: haproxy ?? '' } as const;
      gateways = await Gateways.start(wanted);
      const slugs = Array.from({ length: PROJECTS }, (_, n) => `team-${n}`);
      projects = await gateways.newProjects(...slugs);
      hooks = await addHooks(gateways.urls.hashed, projects);
    });
    afterAll(async () => {
      await gateways.stop();
      folder.remove();
    });

    /** Repeats it while HAProxy has nobody to ask, or a gateway goes away under the call, as clients do. */
    async function read(id: string, { apiKey }: TeamProject): Promise<number> {
      const headers = { authorization: `Bearer ${apiKey}` };
      for (;;) {
        const answer = await fetch(`${gateways.urls.hashed}/v1/inbox/events/${id}`, {
          headers,
        }).catch(() => null);
        await answer?.arrayBuffer();
        if (answer !== null && answer.status < 500) return answer.status;
        await sleep(100);
      }
    }

    async function expectAllThere({ acknowledged }: SteadySenders): Promise<void> {
      const others = Array<number>(PROJECTS - 1).fill(404);
      for (const id of acknowledged) {
        const found = await Promise.all(projects.map((project) => read(id, project)));
        expect(found.toSorted((a, b) => a - b)).toEqual([200, ...others]);
      }
    }

    it.each([
      ['killed', 'SIGKILL'],
      ['stopped and goes on later', 'SIGSTOP'],
    ] as const)('go on when one of them is %s, and lose nothing', async (_what, signal) => {
      const senders = new SteadySenders(hooks);
      await expect.poll(() => senders.acceptedAt.size).toBe(PROJECTS);
      const from = performance.now();
      if (signal === 'SIGKILL') await gateways.kill(0);
      else process.kill(gateways.pid(0), signal);
      // While that one is away.
      const served = (): number =>
        projects.filter(({ id }) => (senders.acceptedAt.get(id)?.at(-1) ?? 0) > from).length;
      await expect.poll(served).toBe(PROJECTS);
      if (signal === 'SIGKILL') await gateways.startOne(0);
      else process.kill(gateways.pid(0), 'SIGCONT');
      await senders.stop();
      await expectAllThere(senders);
    });
  },
);
