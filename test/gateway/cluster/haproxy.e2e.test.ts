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
const STOPPED_MS = 8_000;
/** Generous, because a machine that runs other tests can stand still for seconds. */
const NOTICED_MS = 8_000;

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

    async function expectAllThere({ acknowledged }: SteadySenders): Promise<void> {
      for (const id of acknowledged) {
        const found = await Promise.all(
          projects.map(({ apiKey }) =>
            fetch(`${gateways.urls.hashed}/v1/inbox/events/${id}`, {
              headers: { authorization: `Bearer ${apiKey}` },
            }),
          ),
        );
        expect(found.filter(({ status }) => status === 200)).toHaveLength(1);
      }
    }

    it.each([
      ['killed', async () => gateways.kill(0)],
      [
        'stopped and goes on later',
        async () => {
          process.kill(gateways.pid(0), 'SIGSTOP');
          await sleep(STOPPED_MS);
          process.kill(gateways.pid(0), 'SIGCONT');
        },
      ],
    ])('go on when one of them is %s, and lose nothing', async (what, trouble) => {
      const senders = new SteadySenders(hooks);
      await expect.poll(() => senders.acceptedAt.size, { timeout: 30_000 }).toBe(PROJECTS);
      const from = performance.now();
      await trouble();
      await sleep(STOPPED_MS / 2);
      await senders.stop();
      expect(senders.longestGapMs(from)).toBeLessThan(NOTICED_MS);
      for (const { id } of projects) {
        const times = senders.acceptedAt.get(id) ?? [];
        expect(times.filter((time) => time > from).length).toBeGreaterThan(0);
      }
      await expectAllThere(senders);
      if (what === 'killed') await gateways.startOne(0);
    });
  },
);
