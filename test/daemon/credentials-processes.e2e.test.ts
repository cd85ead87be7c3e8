import { execFile } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCredentials } from '../../daemon/credentials.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const WRITERS = 4;
const CHANGES = 15;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'credentials.json');
});
afterEach(() => folder.remove());

/** What a process of its own does with the file. */
function elsewhere(code: string): Promise<unknown> {
  const text = `
    import { changeCredentials, storeLocalKey } from ${JSON.stringify(resolve('daemon/credentials.ts'))};
    const path = ${JSON.stringify(path)};
    ${code}`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', text];
  return promisify(execFile)(process.execPath, args);
}

describe('the credentials file', () => {
  it('loses no change of processes that write at the same time', async () => {
    const writers = Array.from({ length: WRITERS }, (_, writer) =>
      elsewhere(`
        for (let at = 0; at < ${CHANGES}; at += 1) {
          const name = 'w${writer}-' + at;
          const one = { gateway: 'https://gw.example', api_key: name, project: 'prj_1' };
          changeCredentials(path, (stored) => ({
            profiles: { ...stored?.profiles, [name]: one },
            current: name,
          }));
          // Whoever took the lock again at once would keep the others out until its end.
          await new Promise((done) => setTimeout(done, 10));
        }`),
    );
    await Promise.all([
      ...writers,
      elsewhere(`storeLocalKey(path, { apiKey: 'k', project: 'p' });`),
    ]);
    const stored = readCredentials(path);
    expect(Object.keys(stored?.profiles ?? {})).toHaveLength(WRITERS * CHANGES + 1);
    expect(stored?.profiles).toHaveProperty(stored?.current ?? '');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('the lock of the credentials file', () => {
  it('is not taken from one that runs, and who waits in vain learns which', async () => {
    symlinkSync(String(process.pid), `${path}.lock`);
    const waiting = elsewhere(`storeLocalKey(path, { apiKey: 'k', project: 'p' });`);
    await expect(waiting).rejects.toThrow(`is in use by process ${process.pid}`);
    expect(existsSync(path)).toBe(false);
  });
});
