import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { FakeClock, TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { TestPeople } from '../approvals/people.ts';

let folder: ReturnType<typeof temporaryFolder>;
let clock: FakeClock;
let gateway: TestGateway;
let people: TestPeople;

beforeEach(async () => {
  folder = temporaryFolder();
  clock = new FakeClock();
  gateway = await TestGateway.start({ folder: folder.path, clock });
  people = await TestPeople.of(gateway, clock);
});
afterEach(async () => {
  await gateway.stop();
  folder.remove();
});

function databasePath(): string {
  return join(folder.path, 'projects', gateway.projectId, 'project.db');
}

/** Flips a bit wherever the database has this text, while nobody has it open. */
async function flip(text: string): Promise<void> {
  await gateway.stop({ keepFolder: true });
  const bytes = readFileSync(databasePath());
  const first = bytes.indexOf(text);
  expect(first).toBeGreaterThan(0);
  for (let at = first; at !== -1; at = bytes.indexOf(text, at + 1)) {
    bytes[at] = (bytes[at] ?? 0) ^ 1;
  }
  writeFileSync(databasePath(), bytes);
  gateway = await TestGateway.start({ folder: folder.path, clock, projectOf: gateway });
  people = await TestPeople.of(gateway, clock);
}

function named(): string[] {
  return new DamageRegister(folder.path).list().map(({ what }) => what);
}

const INTERNAL = { status: 500, body: { error: { code: 'INTERNAL' } } };
const BOUND = 'quite-special-bound';
const CHOSEN = 'tonight-at-eleven-sharp';

describe.each([
  ['the values it bound', BOUND],
  ['the decision', CHOSEN],
  ['what was asked', 'Deploy-the-second-version'],
])('an approval of which a byte flipped in %s', (_, text) => {
  it('is neither served nor spent, is named, and leaves the others readable', async () => {
    const id = await people.asked({
      summary: 'Deploy-the-second-version',
      bind: { sha: BOUND },
      options: [CHOSEN],
    });
    await people.decide(id, { verb: 'option', index: 0 });
    const other = await people.asked({ summary: 'Another' });
    await flip(text);
    expect(await gateway.call('GET', `/v1/requests/${id}`)).toMatchObject(INTERNAL);
    for (const sha of [BOUND, `p${BOUND.slice(1)}`]) {
      const used = await gateway.call('POST', `/v1/requests/${id}/use`, {
        body: { bind: { sha } },
      });
      expect(used).toMatchObject(INTERNAL);
    }
    expect(named()).toEqual([`request ${id}`]);
    const listed = await gateway.call('GET', '/v1/requests?limit=1');
    expect(listed.body).toMatchObject({ items: [{ request_id: other }] });
    const rest = await gateway.call('GET', '/v1/requests?limit=2');
    expect(rest.body).toMatchObject({ items: [{ request_id: other }], next_cursor: null });
    expect(await people.ledger('approval.spent')).toEqual([]);
  });
});

describe('a pending request that is damaged', () => {
  it("can't be decided, and ends in time without a word, so that maintenance goes on", async () => {
    const id = await people.asked({ summary: 'Deploy-the-second-version' });
    const token = await people.link(id);
    await flip('Deploy-the-second-version');
    await expect(gateway.gateway.approvals.decide(token, { verb: 'approve' })).rejects.toThrow(
      'is damaged',
    );
    clock.advance(8 * 86_400_000);
    await people.maintenance();
    expect(await people.events()).toEqual([]);
    const due = await people.project.store.read((store) => store.requests.nextExpiry());
    expect(due).toBeNull();
    expect(await gateway.call('GET', `/v1/requests/${id}`)).toMatchObject(INTERNAL);
  });
});

describe('a policy of which a byte flipped', () => {
  it('decides nothing', async () => {
    await people.setPolicy({
      effect: 'allow',
      action: 'small-change',
      description: 'it-is-harmless',
    });
    expect((await people.ask({ action: 'small-change' })).body.status).toBe('approved');
    await flip('it-is-harmless');
    expect(await people.ask({ action: 'small-change', summary: 'Again' })).toMatchObject(INTERNAL);
    expect(named()).toContain('policy 1');
  });
});

describe('rows of an earlier release', () => {
  const TABLES = ['policy', 'request', 'vote'];

  it('are served as they are, and get the sums that they would have had', async () => {
    const second = await people.activeChannel('bo@example.com');
    await people.setPolicy({ effect: 'require_approval', action: 'deploy', approvals: 2 });
    const id = await people.asked({ bind: { sha: BOUND } });
    await people.decide(id, { verb: 'approve' }, second);
    const stored = TABLES.map((table) => `SELECT * FROM ${table}`);
    await gateway.stop({ keepFolder: true });
    const before = withRawDatabase(databasePath(), (raw) => {
      const rows = stored.map((sql) => raw.all(sql));
      for (const table of TABLES) raw.exec(`UPDATE ${table} SET sum = NULL`);
      return rows;
    });
    expect(before.every((rows) => rows.length > 0)).toBe(true);
    gateway = await TestGateway.start({ folder: folder.path, clock, projectOf: gateway });
    people = await TestPeople.of(gateway, clock);
    expect(await people.status(id)).toMatchObject({ bind: { sha: BOUND } });
    await people.maintenance();
    expect(withRawDatabase(databasePath(), (raw) => stored.map((sql) => raw.all(sql)))).toEqual(
      before,
    );
  });
});
