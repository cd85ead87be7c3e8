import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OperatorService } from '../../../gateway/operator/operator-service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { Person } from '../auth/sign-in/person.ts';

const OPEN_MAX = 3;

let folder: ReturnType<typeof temporaryFolder>;
let clock: FakeClock;
let gateway: TestGateway;
let approvals: OperatorService;

async function start(): Promise<void> {
  const options = { clock, signIn: true, openProjectsMax: OPEN_MAX };
  gateway = await TestGateway.start({ ...options, folder: folder.path });
  approvals = gateway.gateway.operator;
}

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new FakeClock();
  await start();
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

/** Projects of the machine, each a second younger than the one before; their ids. */
async function makeProjects(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    clock.advance(1000);
    const slug = `shop-${n}`;
    const { project } = await gateway.gateway.createProject({ name: `Shop ${n}`, slug });
    ids.push(project.id);
  }
  return ids;
}

const all = () => approvals.list(100, undefined);

describe('the list of projects', () => {
  it('tells of each whose it is, and whether it may send', async () => {
    clock.advance(1000);
    const person = new Person(gateway, 'Ana.Lovelace@example.com');
    const { project } = await person.project({ name: 'Acme Shop' });
    const createdAt = isoTime(clock.now());
    clock.advance(1000);
    await approvals.setSendBlock('acme-shop', 'Unpaid');
    const { items, next_cursor: next } = await all();
    expect(next).toBeNull();
    expect(items).toEqual([
      {
        id: gateway.projectId,
        slug: expect.stringMatching(/^t-\d+$/),
        name: 'Test',
        created_at: expect.any(String),
        state: 'active',
        moved_to: null,
        owner: null,
        emails: { this_month: 0, blocked: null },
      },
      {
        id: project.id,
        slug: 'acme-shop',
        name: 'Acme Shop',
        created_at: createdAt,
        state: 'active',
        moved_to: null,
        owner: 'A***@example.com',
        emails: { this_month: 0, blocked: { reason: 'Unpaid', since: isoTime(clock.now()) } },
      },
    ]);
  });

  it('comes in pages, the oldest first, also where several are of one moment', async () => {
    const ids = await makeProjects(3);
    const twins = await Promise.all(
      ['one', 'two'].map((slug) => gateway.gateway.createProject({ name: slug, slug })),
    );
    const expected = [gateway.projectId, ...ids.slice(0, 2)];
    const last = [ids[2] ?? '', ...twins.map(({ project }) => project.id)];
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await approvals.list(2, cursor);
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(seen.slice(0, 3)).toEqual(expected);
    // Those of one moment stand in the order of their ids, which are random.
    expect(seen.slice(3).toSorted()).toEqual(last.toSorted());
  });

  it('is refused with a cursor of another list', async () => {
    await expect(approvals.list(2, 'bm9uZQ')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('opens no more databases than may be open at a time', async () => {
    await makeProjects(8);
    const counts: number[] = [];
    const timer = setInterval(() => counts.push(gateway.gateway.projects.openCount), 1);
    const { items } = await all();
    clearInterval(timer);
    expect(items).toHaveLength(9);
    expect(items.every(({ emails }) => emails !== null)).toBe(true);
    expect(Math.max(...counts, gateway.gateway.projects.openCount)).toBeLessThanOrEqual(OPEN_MAX);
  });

  it('leaves out a project that is still being made', async () => {
    const control = await ControlStore.open(
      { kind: 'file', path: join(folder.path, 'control.db') },
      () => undefined,
    );
    const half = { id: 'prj_0000000000000000', slug: 'half', name: 'Half' };
    await control.reserveProject({ ...half, created_at: isoTime(clock.now()) });
    await control.close();
    expect((await all()).items.map(({ id }) => id)).toEqual([gateway.projectId]);
    await expect(approvals.setSendBlock('half', 'Unpaid')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('shows the others where one cannot be read', async () => {
    const [broken = ''] = await makeProjects(OPEN_MAX + 1);
    await gateway.stop();
    writeFileSync(join(folder.path, 'projects', broken, 'project.db'), 'no database');
    await start();
    const { items } = await all();
    const unreadable = items.filter(({ emails }) => emails === null);
    expect(unreadable.map(({ id }) => id)).toEqual([broken]);
    expect(items).toHaveLength(OPEN_MAX + 3);
  });
});

describe('an order', () => {
  it('takes the id of a project as well as its slug', async () => {
    const [id = ''] = await makeProjects(1);
    const first = await approvals.setSendBlock(id, 'Unpaid');
    expect(first).toMatchObject({ project: { id, slug: 'shop-1', name: 'Shop 1' }, changed: true });
    expect(await approvals.setSendBlock('shop-1', 'Unpaid')).toMatchObject({ changed: false });
  });

  it.each(['shop', '', 'prj_0000000000000000', '%2e'])('about %j is refused', async (name) => {
    const refusal: unknown = await approvals
      .setSendBlock(name, null)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(refusal).toMatchObject({
      code: 'NOT_FOUND',
      hint: 'No project has this slug or id. See: svc gateway project list',
    });
  });

  it('holds when the gateway starts again', async () => {
    await makeProjects(1);
    await approvals.setSendBlock('shop-1', 'Unpaid');
    await gateway.stop();
    await start();
    expect(await approvals.setSendBlock('shop-1', 'Unpaid')).toMatchObject({ changed: false });
  });
});
