import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkData } from '../../../gateway/admin/check/check.ts';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import { DamageRegister } from '../../../shared/store/sums/damage.ts';
import { withRawDatabase } from '../../helpers/database.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
let gateway: TestGateway;
beforeEach(async () => {
  folder = temporaryFolder();
  gateway = await TestGateway.start({ folder: folder.path });
});
afterEach(() => folder.remove());

/** Changes rows as a disk would whose pages have no sums, as on a database server. */
async function rot(...statements: readonly string[]): Promise<void> {
  await gateway.stop({ keepFolder: true });
  const path = join(folder.path, 'projects', gateway.projectId, 'project.db');
  withRawDatabase(path, (database) => {
    for (const statement of statements) database.exec(statement);
  });
  rmSync(`${path}-sums`, { force: true });
}

async function checked(): Promise<string[]> {
  const { damage } = await checkData({
    settings: readAdminSettings({}, { data: folder.path }),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  return damage.map(({ what }) => what);
}

async function put(path: string, body: unknown, method = 'PUT'): Promise<Record<string, unknown>> {
  return (await gateway.call(method, path, { body })).body;
}

async function write(): Promise<string> {
  await put('/v1/kv/answer', { is: 'forty-two' });
  for (let key = 0; key < 101; key += 1) await put(`/v1/kv/k${key}`, { n: key });
  await put('/v1/state/job', { state: { step: 1 } });
  await put('/v1/state/job', { state: { step: 2 } });
  await put('/v1/files/notes', 'some text');
  const asked = { action: 'deploy', summary: 'Deploy it', wait_seconds: 0 };
  return String((await put('/v1/requests', asked, 'POST'))['request_id']);
}

describe('rows that aren’t as they were written', () => {
  it('are named by the check, which doesn’t take a known one for good', async () => {
    const request = await write();
    await rot(
      `UPDATE kv SET value = CAST('{"is":"forty-two!"}' AS BLOB) WHERE key IN ('answer', 'k100')`,
      `UPDATE state_version SET note = 'other'`,
      `UPDATE file SET content_type = 'text/html'`,
      `UPDATE request SET summary = 'Deploy everything'`,
    );
    gateway = await TestGateway.start({ folder: folder.path, projectOf: gateway });
    expect((await gateway.call('GET', '/v1/kv/answer')).status).toBe(500);
    await gateway.stop({ keepFolder: true });
    const found = await checked();
    expect(found).toEqual([
      'key answer',
      'key k100',
      expect.stringMatching(/^key .*job, version \d+$/),
      'file notes',
      `request ${request}`,
    ]);
    const known = new DamageRegister(folder.path).list().map(({ what }) => what);
    expect(known.toSorted()).toEqual(found.toSorted());
  });

  it('are nothing that good data has', async () => {
    await write();
    await gateway.stop({ keepFolder: true });
    expect(await checked()).toEqual([]);
  });
});
