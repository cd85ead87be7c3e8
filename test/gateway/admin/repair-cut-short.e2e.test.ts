import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestGateway, temporaryFolder } from '../../helpers/gateway.ts';
import { operator } from './operator.ts';

const PROGRAM = resolve('test/gateway/admin/repair-dying-program.ts');
/** More than there are files to move. */
const MOVES_MAX = 12;

let root: ReturnType<typeof temporaryFolder>;
let data: string;
let backup: string;
let database: string;
beforeAll(async () => {
  root = temporaryFolder();
  data = join(root.path, 'data');
  backup = join(root.path, 'backup');
  mkdirSync(data);
  const gateway = await TestGateway.start({ folder: data });
  database = join('projects', gateway.projectId, 'project.db');
  await gateway.call('PUT', '/v1/kv/answer', { body: { is: 'forty-two-and-a-half' } });
  await operator(['backup', backup, '--data', data]);
  await gateway.stop({ keepFolder: true });
  const path = join(data, database);
  const bytes = readFileSync(path);
  const at = bytes.lastIndexOf('forty-two-and-a-half');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
});
afterAll(() => root.remove());

/** Repairs a copy of the damaged data, and is killed before a move; null if there are fewer. */
function killed(move: number): string | null {
  const copy = join(root.path, `data-${move}`);
  cpSync(data, copy, { recursive: true });
  const args = ['--import', 'tsx', PROGRAM, copy, backup, String(move)];
  const { signal, status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (signal === 'SIGKILL') return copy;
  expect([status, stderr]).toEqual([0, '']);
  return null;
}

describe('a repair of a database that is killed before any of its steps', () => {
  it('leaves no damaged database that passes for a good one, and can be repeated', async () => {
    let move = 1;
    for (; move < MOVES_MAX; move += 1) {
      const copy = killed(move);
      if (copy === null) break;
      const checked = await operator(['check', '--data', copy, '--json']);
      expect(checked.code).toBe(1);
      const again = await operator(['repair', '--from', backup, '--yes', '--data', copy, '--json']);
      expect(again.code).toBe(0);
      expect(JSON.parse(again.out)).toMatchObject({ repaired: [{ file: database }], damage: [] });
      expect(readFileSync(join(copy, database)).includes('forty-two-and-a-half')).toBe(true);
      expect((await operator(['check', '--data', copy])).code).toBe(0);
    }
    expect(move).toBeGreaterThan(2);
  });
});
