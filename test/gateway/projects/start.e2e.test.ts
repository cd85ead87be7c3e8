import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControlStore } from '../../../gateway/store/control-store.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { startGatewayProcess, type GatewayProcess } from '../server/gateway-process.ts';

const LEASE_MS = 30_000;

interface Member {
  readonly id: string;
  readonly apiKey: string;
  readonly hook: string;
}

let folder: ReturnType<typeof temporaryFolder>;
let started: GatewayProcess[];
beforeEach(() => {
  folder = temporaryFolder();
  started = [];
});
afterEach(async () => {
  for (const gateway of started) await gateway.kill();
  folder.remove();
});

/** A gateway over the folder in a process of its own. */
async function start(openMax: number): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(folder.path, openMax);
  started.push(gateway);
  return gateway;
}

/** Makes projects in the folder, each with a source unless said otherwise, and leaves it closed. */
async function seed(
  count: number,
  { clock, sources = true }: { clock?: FakeClock; sources?: boolean } = {},
): Promise<Member[]> {
  const gateway = await TestGateway.start({ folder: folder.path, ...(clock && { clock }) });
  const members = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const made = await gateway.gateway.createProject({ name: `m${n}`, slug: `m${n}` });
      const member = { id: made.project.id, apiKey: made.apiKey };
      if (!sources) return { ...member, hook: '' };
      const source = await gateway.call<{ url: string }>('POST', '/v1/sources', {
        key: made.apiKey,
        body: { type: 'webhook', name: 'hooks', verification: 'none' },
      });
      return { ...member, hook: new URL(source.body.url).pathname };
    }),
  );
  await gateway.stop({ keepFolder: true });
  return members;
}

async function withControl<T>(use: (control: ControlStore) => Promise<T>): Promise<T> {
  const control = await ControlStore.open(
    { kind: 'file', path: join(folder.path, 'control.db') },
    () => undefined,
  );
  try {
    return await use(control);
  } finally {
    await control.close();
  }
}

/** As noted in the file, whoever has it open. */
function idleMarkers(): Map<string, number | null> {
  const rows = withRawDatabase(join(folder.path, 'control.db'), (raw) =>
    raw.all('SELECT project_id, next_due_at FROM project_rest'),
  );
  return new Map(rows.map((row) => [String(row['project_id']), row['next_due_at'] as number]));
}

async function call(
  { url }: GatewayProcess,
  { apiKey }: Member,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number }> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return { status: response.status };
}

/** An event of this project under a lease of thirty seconds. */
async function lease(gateway: GatewayProcess, member: Member): Promise<string> {
  const delivered = await fetch(gateway.url + member.hook, { method: 'POST', body: '{}' });
  const { event_id } = (await delivered.json()) as { event_id: string };
  const claim = { event_id, lease_seconds: 30 };
  const claimed = await call(gateway, member, 'POST', '/v1/inbox/claim', claim);
  expect(claimed.status).toBe(200);
  return event_id;
}

/** As if the time of every lease had passed while nobody was there. */
async function passLease({ id }: Member): Promise<void> {
  const path = join(folder.path, 'projects', id, 'project.db');
  withRawDatabase(path, (raw) =>
    raw.run('UPDATE event SET due_at = due_at - ? WHERE due_at IS NOT NULL', [LEASE_MS]),
  );
  await withControl(async (control) => {
    const due = (await control.idleMarkers.all()).find((work) => work.id === id);
    if (!due?.isIdle || due.nextDueAt === null) return;
    await control.idleMarkers.begin(id, due.nextDueAt - LEASE_MS);
  });
}

/** What the ledger says was done, read from the file. */
function opsOf({ id }: Member): string[] {
  const path = join(folder.path, 'projects', id, 'project.db');
  return withRawDatabase(path, (raw) =>
    raw.all('SELECT op FROM ledger ORDER BY seq').map(({ op }) => String(op)),
  );
}

describe('a gateway that was ended', () => {
  it('knows of each project what falls due next, and opens none', async () => {
    const clock = new FakeClock();
    const members = await seed(5, { clock });
    const noted = idleMarkers();
    for (const { id } of members) expect(noted.has(id)).toBe(true);
    const again = await TestGateway.start({ folder: folder.path, clock, openProjectsMax: 8 });
    // The one that every test gateway makes.
    expect(again.gateway.projects.openCount).toBe(1);
    await again.stop({ keepFolder: true });
    expect([...idleMarkers()]).toEqual(expect.arrayContaining([...noted]));
  });

  it('does in time what fell due while it was away', async () => {
    const [idle, leased] = await seed(2);
    if (!idle || !leased) throw new Error('no member');
    const before = await start(8);
    await lease(before, leased);
    await before.end();
    const due = idleMarkers().get(leased.id);
    expect(due).toBeGreaterThan(Date.now());
    expect(due).toBeLessThanOrEqual(Date.now() + LEASE_MS);
    await passLease(leased);
    const again = await TestGateway.start({ folder: folder.path });
    await expect.poll(() => opsOf(leased), { interval: 50 }).toContain('lease.expired');
    await again.stop({ keepFolder: true });
  });
});

describe('a gateway that was killed', () => {
  it('finds what falls due in open and in closed projects', async () => {
    const members = await seed(6);
    const gateway = await start(2);
    // With two places, those before the last are closed by now, and the last is open.
    for (const member of members) await lease(gateway, member);
    await gateway.kill();
    const noted = idleMarkers();
    const open = members.filter(({ id }) => !noted.has(id));
    expect(open.length).toBeGreaterThan(0);
    expect(open.length).toBeLessThan(members.length);
    for (const member of members) await passLease(member);
    const again = await start(2);
    for (const member of members) {
      await expect.poll(() => opsOf(member), { interval: 50 }).toContain('lease.expired');
    }
    await again.end();
  });

  it('trusts no note of a rest from before a later write', async () => {
    const [member] = await seed(1);
    if (!member) throw new Error('no member');
    expect(idleMarkers().has(member.id)).toBe(true);
    const gateway = await start(2);
    expect((await call(gateway, member, 'GET', '/v1/kv')).status).toBe(200);
    expect(idleMarkers().has(member.id)).toBe(true);
    expect((await call(gateway, member, 'PUT', '/v1/kv/a', 1)).status).toBe(200);
    expect(idleMarkers().has(member.id)).toBe(false);
    await gateway.kill();
    expect(idleMarkers().has(member.id)).toBe(false);
  });

  it('answers at once however many projects there are, and looks at all of them soon', async () => {
    const members = await seed(300, { sources: false });
    await withControl(async (control) => {
      for (const { id } of members) await control.idleMarkers.end(id);
    });
    const gateway = await start(16);
    const last = members.at(-1);
    if (!last) throw new Error('no member');
    expect((await call(gateway, last, 'PUT', '/v1/kv/a', 1)).status).toBe(200);
    // It did not wait until they had all been opened.
    expect(idleMarkers().size).toBeLessThan(members.length);
    await expect
      .poll(() => idleMarkers().size, { interval: 500, timeout: 120_000 })
      .toBeGreaterThan(members.length - 16);
    await gateway.end();
    expect(idleMarkers().size).toBe(members.length + 1);
  });
});
