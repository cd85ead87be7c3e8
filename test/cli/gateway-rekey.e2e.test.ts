import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const folder = temporaryFolder();
const home = join(folder.path, 'home');

afterAll(async () => {
  await svc(home, ['down']);
  folder.remove();
});

it('the daemon of a machine has its master key changed between down and up', async () => {
  const { pid } = await svcUp(home);
  await svc(home, ['source', 'add', 'code', '--verification', 'none']);
  const hook = (await svc(home, ['source', 'list', '--json'])).match(/\/w\/\w+/)?.[0];
  const data = join(home, 'data');
  const newKey = join(folder.path, 'new.key');
  // It has one of a gateway elsewhere in mind: that is not this folder's.
  const env = { SVC_MASTER_KEY_FILE: join(folder.path, 'elsewhere.key') };
  const rekey = ['gateway', 'rekey', '--data', data, '--new-key', newKey, '--json'];
  await expect(svc(home, rekey, env)).rejects.toThrow(`Another process (pid ${pid})`);
  await svc(home, ['down']);
  const told = JSON.parse(await svc(home, rekey, env)) as Record<string, unknown>;
  expect(told).toMatchObject({ data, projects: 1, name_key_file: null });
  expect(existsSync(String(told['old_key_file']))).toBe(true);
  await svcUp(home);
  expect(await svc(home, ['source', 'list', '--json'])).toContain(hook);
  expect(await svc(home, ['ledger', 'verify'])).toContain('"ok":true');
});

it('names what is missing', async () => {
  await expect(svc(home, ['gateway', 'rekey'])).rejects.toThrow('--new-key is missing.');
});
