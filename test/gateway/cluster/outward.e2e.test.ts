import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NotificationQueue } from '../../../gateway/approvals/notification-queue.ts';
import type { Project } from '../../../gateway/projects/project.ts';
import { maintain } from '../../../gateway/projects/maintenance.ts';
import { createVault, loadMasterKey } from '../../../gateway/lib/vault.ts';
import { unavailable } from '../../../shared/lib/errors.ts';
import { FakeClock, type TestGateway } from '../../helpers/gateway.ts';
import { LOOPBACK, Receiver } from '../callbacks/callback-receiver.ts';
import { TestPeople } from '../approvals/people.ts';
import { Routes } from '../../shared/operations/route/routes.ts';
import { later, SENT, TestCarrier } from '../channels/test-carrier.ts';
import { Pair } from './pair.ts';

const SECOND = 1000;
/** How long a delivery is claimed. */
const CLAIM_MS = 60 * SECOND;

let pair: Pair;
let clock: FakeClock;
let projects: Project[];
beforeEach(async () => {
  clock = new FakeClock();
  pair = await Pair.start({ clock, callbackAllow: LOOPBACK });
  projects = [await pair.project(pair.a), await pair.project(pair.b)];
});
afterEach(() => pair.stop());

/** Both do what is due, at once. */
const maintenance = () => Promise.all(projects.map((project) => maintain(project, clock)));

const projectOf = (gateway: TestGateway): Project => {
  const project = projects[gateway === pair.a ? 0 : 1];
  if (!project) throw new Error('There is no project.');
  return project;
};

const soon = { timeout: 60_000, interval: 5 };
const idle = async (): Promise<void> => {
  await expect.poll(() => projects.some(({ deliveries }) => deliveries.isBusy), soon).toBe(false);
};

describe('deliveries', () => {
  let receiver: Receiver;
  let routes: Routes;
  let path: string;
  beforeEach(async () => {
    receiver = await Receiver.start();
    routes = new Routes(pair.a);
    path = new URL(await pair.a.addSource({ name: 'open' })).pathname;
  });
  afterEach(() => receiver.stop());

  const deliver = (gateway: TestGateway, body: string) => gateway.deliver(gateway.url + path, body);

  it('are tried once at each time they are due, though both gateways look', async () => {
    receiver.answer(500);
    const { id } = await routes.add(receiver.url());
    await Promise.all(Array.from({ length: 6 }, (_, n) => deliver(pair.nth(n), `body ${n}`)));
    await receiver.came(6);
    for (const attempt of [1, 2]) {
      await idle();
      const log = await routes.log(id);
      expect(log.map(({ attempts }) => attempts)).toEqual(Array<number>(6).fill(attempt));
      expect(receiver.got).toHaveLength(6 * attempt);
      clock.advance(10 * 60 * SECOND);
      await maintenance();
      await receiver.came(6 * (attempt + 1));
    }
    await idle();
    const tries = new Map<string, string[]>();
    for (const { event, headers } of receiver.got) {
      tries.set(event.id, [...(tries.get(event.id) ?? []), headers['x-service-attempt'] ?? '']);
    }
    expect([...tries.values()]).toEqual(Array.from({ length: 6 }, () => ['1', '2', '3']));
  });

  it('that are claimed and never tried are done by the other when the claim has lapsed', async () => {
    const { id } = await routes.add(receiver.url());
    // As by a gateway that is killed after this.
    projectOf(pair.a).deliveries.stop();
    await deliver(pair.a, 'claimed');
    const [delivery] = await routes.log(id);
    const destination = await projectOf(pair.a).store.read((store) =>
      store.deliveries.dueDestinations(clock.now()),
    );
    const now = clock.now();
    const claim = { destination: destination[0] ?? '', now, limit: 9, until: now + CLAIM_MS };
    await projectOf(pair.a).writes.run('claimDeliveries', claim);
    clock.advance(CLAIM_MS - 1);
    await maintenance();
    await idle();
    expect(receiver.got).toEqual([]);
    clock.advance(1);
    await maintenance();
    expect((await receiver.came(1))[0]?.event.id).toBe(delivery?.event_id);
  });

  it('too large to be held at once are all tried at once all the same', async () => {
    const { id } = await routes.add(receiver.url());
    receiver.hold();
    const body = 'x'.repeat(250 * 1024);
    for (let n = 0; n < 10; n += 1) expect((await deliver(pair.a, body + n)).status).toBe(200);
    await receiver.came(1);
    receiver.letGo();
    await receiver.came(10);
    await idle();
    expect((await routes.log(id)).map(({ status }) => status)).toEqual(
      Array<string>(10).fill('delivered'),
    );
    expect(receiver.got).toHaveLength(10);
  });

  it('of a gateway that closes are left to the other', async () => {
    receiver.hold();
    const { id } = await routes.add(receiver.url());
    await Promise.all(Array.from({ length: 12 }, (_, n) => deliver(pair.a, `body ${n}`)));
    await receiver.came(1);
    const project = projectOf(pair.a);
    await pair.end(pair.a);
    expect(project.deliveries.isBusy).toBe(false);
    receiver.letGo();
    await maintain(projectOf(pair.b), clock);
    await expect
      .poll(async () => {
        const { body } = await pair.b.call<{ items: { status: string }[] }>(
          'GET',
          `/v1/routes/${id}/attempts?limit=100`,
        );
        return body.items.filter(({ status }) => status === 'delivered').length;
      }, soon)
      .toBe(12);
  });
});

describe('letters', () => {
  it('are sent once at each time they are due, though both gateways look', async () => {
    const vault = createVault(loadMasterKey(pair.shared.masterKeyFile));
    const carrier = new TestCarrier(later());
    const letters = projects.map((project) => {
      project.notifications.close();
      return new NotificationQueue(project, {
        clock,
        vault,
        carriers: { email: carrier },
        isCounted: () => false,
      });
    });
    const people = await TestPeople.of(pair.a, clock);
    for (let n = 0; n < 5; n += 1) await people.asked({ summary: `No ${n}` });
    const wake = () => letters.forEach((one) => one.wake());
    const rest = async (): Promise<void> => {
      await expect.poll(() => letters.some(({ isBusy }) => isBusy), soon).toBe(false);
    };
    for (const round of [1, 2, 3]) {
      if (round === 3) carrier.answer = SENT;
      wake();
      await carrier.until(5 * round);
      await rest();
      wake();
      await rest();
      expect(carrier.got).toHaveLength(5 * round);
      clock.advance(60 * SECOND);
    }
    clock.advance(600 * SECOND);
    wake();
    await rest();
    expect(carrier.got).toHaveLength(15);
    expect(new Set(carrier.got.map(({ id }) => id)).size).toBe(5);
  });

  it('that were sent are not sent again when the store was away before that was written down', async () => {
    const vault = createVault(loadMasterKey(pair.shared.masterKeyFile));
    const carrier = new TestCarrier(SENT);
    const project = projectOf(pair.a);
    for (const one of projects) one.notifications.close();
    let isAway = true;
    const { writes } = project;
    const letters = new NotificationQueue(
      {
        info: project.info,
        store: project.store,
        dueRows: project.dueRows,
        writes: {
          run: (name, input) =>
            isAway && name === 'recordNotifications'
              ? Promise.reject(unavailable(5))
              : writes.run(name, input),
          follow: () => writes.follow(),
          copyBase: () => writes.copyBase(),
          rotate: () => writes.rotate(),
        },
        atLatest: () => undefined,
        inBackground: (work) => void work().catch(() => undefined),
      },
      { clock, vault, carriers: { email: carrier }, isCounted: () => false },
    );
    await (await TestPeople.of(pair.a, clock)).asked();
    for (const away of [true, true, false, false]) {
      isAway = away;
      letters.wake();
      await expect.poll(() => letters.isBusy, soon).toBe(false);
      clock.advance(600 * SECOND);
    }
    expect(carrier.got).toHaveLength(1);
  });
});
