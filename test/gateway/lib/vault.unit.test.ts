import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createVault, loadMasterKey } from '../../../gateway/lib/vault.ts';
import { startFailureText, StartRefusal } from '../../../shared/host/start-refusal.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

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

it('the master key is for its owner alone', () => {
  const path = join(folder.path, 'master.key');
  loadMasterKey(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('says which folder is missing where the key is to be made, and which setting names it', () => {
  const path = join(folder.path, 'keys', 'master.key');
  expect(() => loadMasterKey(path)).toThrow(
    new StartRefusal(
      `SVC_MASTER_KEY_FILE: no key can be made at ${path}, because ${join(folder.path, 'keys')} is not there. Make that folder for this user, or name another file.`,
      'settings',
    ),
  );
});

it("a start with another folder's master key ends with a sentence, not with a stack", () => {
  const [one, other] = [createVault(randomBytes(32)), createVault(randomBytes(32))];
  const sealed = one.seal('here', 'secret');
  let failure: unknown = null;
  try {
    other.open('here', sealed);
  } catch (error) {
    failure = error;
  }
  expect(startFailureText(failure)).toBe(
    'The stored secrets were sealed with another master key. Put back the master.key that belongs to this data, or name its file with SVC_MASTER_KEY_FILE.',
  );
});
