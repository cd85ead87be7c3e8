import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

it('gateways that share the file of the master key and start at once have the same one', async () => {
  const vault = JSON.stringify(resolve('gateway/lib/vault.ts'));
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
