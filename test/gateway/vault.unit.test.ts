import { execFile } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadMasterKey } from '../../gateway/vault.ts';
import { StartRefused } from '../../shared/start-refused.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

it('a first start that was cut short while it wrote the master key does not bar the next', () => {
  const path = join(folder.path, 'master.key');
  writeFileSync(`${path}.0123456789abcdef.tmp`, '');
  const key = loadMasterKey(path);
  expect(key).toHaveLength(32);
  expect(Buffer.from(loadMasterKey(path)).equals(key)).toBe(true);
  expect(readdirSync(folder.path)).toEqual(['master.key', 'master.key.0123456789abcdef.tmp']);
});

it('gateways that share the file of the master key and start at once have the same one', async () => {
  const vault = JSON.stringify(resolve('gateway/vault.ts'));
  for (let round = 0; round < 3; round += 1) {
    const path = join(folder.path, `${round}.key`);
    const program = `import { loadMasterKey } from ${vault};
      console.log(Buffer.from(loadMasterKey(${JSON.stringify(path)})).toString('hex'));`;
    const args = ['--import', 'tsx', '--input-type=module', '-e', program];
    const runs = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args));
    const keys = (await Promise.all(runs)).map(({ stdout }) => stdout);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}\n$/);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  }
});

it('the master key is for its owner alone', () => {
  const path = join(folder.path, 'master.key');
  loadMasterKey(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('says which folder is missing where the key is to be made, and which setting names it', () => {
  const path = join(folder.path, 'keys', 'master.key');
  expect(() => loadMasterKey(path)).toThrow(
    new StartRefused(
      `SVC_MASTER_KEY_FILE: no key can be made at ${path}, because ${join(folder.path, 'keys')} is not there. Make that folder for this user, or name another file.`,
      'settings',
    ),
  );
});
