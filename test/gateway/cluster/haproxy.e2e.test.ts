import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { Gateways } from '../../helpers/gateways.ts';
import { findProgram } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';
import type { TeamProject } from '../../helpers/team.ts';

const haproxy = findProgram('haproxy', ['/usr/sbin']);
/** Several, so that either gateway has some. */
const PROJECTS = 8;
const SENDERS = 8;
const STOPPED_MS = 8_000;
/** Generous, because a machine that runs other tests can stand still for seconds. */
const NOTICED_MS = 8_000;

interface Sent {
  /** Ids of events that were acknowledged. */
  readonly acknowledged: Set<string>;
  /** When each project's deliveries were accepted, in milliseconds. */
  readonly acceptedAt: Map<string, number[]>;
}

describe.runIf(required('HAProxy', haproxy !== null, 'apt-get install -y haproxy'))(
  'two gateways behind HAProxy as gateway/deploy/haproxy.cfg has it',
  () => {
    const folder = temporaryFolder();
    let gateways: Gateways;
    let projects: TeamProject[];
    const hooks = new Map<string, string>();

    beforeAll(async () => {
      const wanted = { folder: folder.path, publicRoad: 'hashed', haproxy: haproxy ?? '' } as const;
      gateways = await Gateways.start(wanted);
      const slugs = Array.from({ length: PROJECTS }, (_, n) => `team-${n}`);
      projects = await gateways.newProjects(...slugs);
      for (const project of projects) {
        const body = JSON.stringify({ type: 'webhook', name: 'shop' });
        const made = await call(project, 'POST', '/v1/sources', body);
        hooks.set(project.id, ((await made.json()) as { url: string }).url);
      }
    });
    afterAll(async () => {
      await gateways.stop();
      folder.remove();
    });

    const call = (project: TeamProject, method: string, path: string, body?: string) =>
      fetch(gateways.urls.hashed + path, {
        method,
        headers: {
          authorization: `Bearer ${project.apiKey}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });

    /** Sends webhooks to all projects until told to stop. */
    function send(over: AbortSignal): { readonly sent: Sent; readonly done: Promise<unknown> } {
      const sent: Sent = { acknowledged: new Set(), acceptedAt: new Map() };
      const sender = async (who: number): Promise<void> => {
        for (let n = 0; !over.aborted; n += 1) {
          const project = projects[(who + n) % PROJECTS] as TeamProject;
          const id = await deliver(hooks.get(project.id) ?? '', JSON.stringify({ who, n }));
          if (id === null) {
            await sleep(50);
            continue;
          }
          sent.acknowledged.add(id);
          const times = sent.acceptedAt.get(project.id) ?? [];
          sent.acceptedAt.set(project.id, times);
          times.push(performance.now());
        }
      };
      const done = Promise.all(Array.from({ length: SENDERS }, (_, who) => sender(who)));
      return { sent, done };
    }

    async function expectAllThere({ acknowledged }: Sent): Promise<void> {
      for (const id of acknowledged) {
        const found = await Promise.all(
          projects.map((project) => call(project, 'GET', `/v1/inbox/events/${id}`)),
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
      const over = new AbortController();
      const { sent, done } = send(over.signal);
      await expect.poll(() => sent.acceptedAt.size, { timeout: 30_000 }).toBe(PROJECTS);
      const from = performance.now();
      await trouble();
      await sleep(STOPPED_MS / 2);
      over.abort();
      await done;
      const gap = Math.round(longestGap(sent, from));
      process.stderr.write(`one gateway ${what}: ${gap} ms without an accepted delivery\n`);
      expect(gap).toBeLessThan(NOTICED_MS);
      for (const project of projects) {
        const times = sent.acceptedAt.get(project.id) ?? [];
        expect(times.filter((time) => time > from).length).toBeGreaterThan(0);
      }
      await expectAllThere(sent);
      if (what === 'killed') await gateways.startOne(0);
    });
  },
);

/** The event's id; null if it wasn't accepted. */
async function deliver(url: string, body: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(10_000) });
    const { event_id } = (await answer.json()) as { event_id?: string };
    return answer.status === 200 ? (event_id ?? null) : null;
  } catch {
    return null;
  }
}

/** The longest time without an accepted delivery to one project, in milliseconds. */
function longestGap({ acceptedAt }: Sent, from: number): number {
  const gaps = [...acceptedAt.values()].flatMap((times) => {
    const all = [from, ...times.filter((time) => time > from)];
    return all.slice(1).map((time, n) => time - (all[n] ?? time));
  });
  return Math.max(...gaps);
}
