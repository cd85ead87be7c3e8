import { randomBytes } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { caughtUp, untilState } from '../../daemon/replica/open-replica.ts';
import { Stage } from '../../daemon/replica/stage.ts';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { operator } from './operator.ts';

let stage: Stage;
let root: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  root = temporaryFolder();
  stage = await Stage.open();
});
afterEach(async () => {
  await stage.end();
  root.remove();
});

it('the replica of a real daemon takes the place of a ruined database', async () => {
  const replica = stage.replica();
  await untilState(replica, 'live');
  await caughtUp(replica, await stage.write('last', 'here'));
  await stage.close(replica);
  const data = join(root.path, 'data');
  cpSync(stage.gateway.folder, data, {
    recursive: true,
    filter: (path) => !path.endsWith('.sock'),
  });
  const { projectId, apiKey } = stage.gateway;
  const database = join(data, 'projects', projectId, 'project.db');
  const bytes = readFileSync(database);
  for (let at = 8192; at < bytes.length; at += 8192) randomBytes(4096).copy(bytes, at);
  writeFileSync(database, bytes);
  writeFileSync(`${database}-wal`, '');
  const args = ['--replica', stage.replicaFolder, '--yes', '--data', data];
  const { code, out } = await operator(['repair', ...args]);
  expect([code, out]).toEqual([0, expect.stringContaining(`from ${stage.replicaFolder}, as of 2`)]);
  const gateway = await TestGateway.start({ folder: data, projectOf: { projectId, apiKey } });
  try {
    const { body } = await gateway.call('GET', '/v1/kv/last');
    expect(body).toMatchObject({ value: 'here' });
    expect((await gateway.call('PUT', '/v1/kv/next', { body: 1 })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
