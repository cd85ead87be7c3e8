import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { svc, svcUp } from '../helpers/daemon.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { Decider } from './decider.ts';
import { pythonWithClient, run } from './python.ts';

const folder = temporaryFolder();
let python: string;
let decider: Decider;

beforeAll(async () => {
  python = await pythonWithClient(folder.path);
  const { base_url } = await svcUp(folder.path);
  decider = new Decider(join(folder.path, 'data'), base_url);
});
afterAll(async () => {
  await decider.stop();
  await svc(folder.path, ['down']);
  folder.remove();
});

it('the tests of the Python client pass against a real daemon', async () => {
  const args = ['-m', 'unittest', 'discover', '-s', 'clients/python/tests'];
  const told = await run(python, args, { SVC_HOME: folder.path });
  expect(told).toMatch(/Ran \d\d+ tests/);
  expect(told).not.toMatch(/skipped/);
});

it('the installed package is typed, and needs nothing else', async () => {
  const script = `
import importlib.metadata, importlib.resources, svc_agents
assert importlib.resources.files("svc_agents").joinpath("py.typed").is_file()
assert "site-packages" in svc_agents.__file__, svc_agents.__file__
print(importlib.metadata.version("svc-agents"), importlib.metadata.requires("svc-agents"))`;
  expect((await run(python, ['-c', script])).trim()).toMatch(/^\d+\.\d+\.\d+ None$/);
});

it('the bot of docs/clients.md asks once, and merges what was approved', async () => {
  const page = readFileSync('docs/clients.md', 'utf8');
  const bot = /<!-- docs: save bot\.py -->\s*```python\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(bot.trimEnd().split('\n').length).toBeLessThanOrEqual(26);
  const path = join(folder.path, 'bot.py');
  writeFileSync(path, bot);
  const add = ['source', 'add', 'github', '--verification', 'github', '--secret', 'my-secret'];
  await svc(folder.path, add);
  const triggered = await svc(folder.path, ['trigger', 'github.pull_request.opened', '--json']);
  const { event_id: id } = JSON.parse(triggered) as { event_id: string };
  const env = { ...process.env, SVC_HOME: folder.path };
  const worker = spawn(python, [path], { env, stdio: 'ignore' });
  const get = async (): Promise<{ status: string; result: unknown }> =>
    JSON.parse(await svc(folder.path, ['inbox', 'get', id, '--json'])) as never;
  await expect.poll(async () => (await get()).status, { timeout: 60_000 }).toBe('done');
  expect((await get()).result).toMatch(/^merged [0-9a-f]{40}$/);
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
