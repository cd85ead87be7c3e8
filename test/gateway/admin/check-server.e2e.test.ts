import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAdminSettings } from '../../../gateway/admin/settings.ts';
import type { RemoteLocation } from '../../../shared/store/engine/location.ts';
import { openClient } from '../../../shared/store/remote/client.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { filesUnder } from '../../helpers/files.ts';
import { flipBit } from '../../helpers/flipped.ts';
import { startHrana, type HranaServer } from '../../helpers/hrana/server.ts';
import { seed } from './moving.ts';
import { operator } from './operator.ts';

let root: ReturnType<typeof temporaryFolder>;
let server: HranaServer;
beforeEach(async () => {
  root = temporaryFolder();
  const folder = join(root.path, 'server');
  mkdirSync(folder);
  server = await startHrana({ folder });
});
afterEach(async () => {
  await server.stop();
  root.remove();
});

it("what is damaged on a database server is named, and left to the server's own restore", async () => {
  const data = join(root.path, 'data');
  mkdirSync(data);
  const url = `${server.url}/{project}/`;
  const env = { SVC_DATABASE_URL: url };
  const { id } = await seed(data, { store: { url, token: null, maker: null } });
  expect((await operator(['check', '--data', data], env)).code).toBe(0);

  const { databases } = readAdminSettings(env, { data });
  const client = openClient(databases.ofProject(id) as RemoteLocation);
  await client.execute("UPDATE ledger SET op = op || '!' WHERE seq = 2");
  client.close();
  const [blob = ''] = filesUnder(data).filter((path) => path.includes('/blobs/'));
  flipBit(blob);

  const check = await operator(['check', '--data', data], env);
  expect(check.code).toBe(1);
  expect(check.out).toContain('the database server (ledger) its ledger is broken at seq 2');
  expect(check.out).toContain("doesn't match its digest");
  expect(check.out).toContain('Restore that database at its server');

  const repair = await operator(['repair', '--data', data, '--yes'], env);
  expect(repair.code).toBe(1);
  expect(repair.out).toContain('2 objects damaged still');
  expect(repair.out).toContain('A database on a server is restored at its server.');
  const replica = await operator(['repair', '--data', data, '--replica', data], env);
  expect([replica.code, replica.err]).toEqual([1, expect.stringContaining('Restore them there')]);
});
