import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeTrouble } from '../../../shared/host/writable.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

it('a file system without room for another file is found, because each look makes one anew', async () => {
  const folder = temporaryFolder();
  const probe = join(folder.path, '.probe');
  // As a process leaves it that is killed while it looks.
  writeFileSync(probe, '1');
  expect(await writeTrouble(folder.path)).toBeNull();
  expect(existsSync(probe)).toBe(false);
  expect(await writeTrouble(folder.path)).toBeNull();
  expect(existsSync(probe)).toBe(false);
  folder.remove();
});
