import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from 'esbuild';

/** What the bot reviews and merges with: it notes what it does, and kills a process where a file says so. */
const GITHUB = `
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const stage = process.env.STAGE;
async function act(name, { number }) {
  const file = stage + '/kill-' + name + '-' + number;
  if (existsSync(file)) {
    const pid = JSON.parse(readFileSync(process.env.SVC_HOME + '/daemon.json', 'utf8')).pid;
    rmSync(file);
    process.kill(pid, 'SIGKILL');
    await sleep(50);
  }
  appendFileSync(stage + '/acts', name + ' ' + number + '\\n');
  return { [name]: number };
}
export const review = async (pr) => JSON.stringify(await act('review', pr));
export const merge = (pr) => act('merge', pr);
`;

/** The bot that docs/clients.md shows, as files; the first is the program. */
export function clientBot(): Readonly<Record<string, string>> {
  const page = readFileSync('docs/clients.md', 'utf8');
  const bot = /<!-- docs: bot\.ts -->\s*```ts\n([\s\S]*?)```/.exec(page)?.[1];
  if (bot === undefined) throw new Error('docs/clients.md shows no bot.');
  const { code } = transformSync(bot, { loader: 'ts', format: 'esm', target: 'node20' });
  return { 'bot.mjs': code, 'github.js': GITHUB, 'package.json': '{ "type": "module" }' };
}

/** Installs the built package below a folder, and zod, which the bot imports. */
export function linkPackage(folder: string): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'svc-agents'));
  symlinkSync(resolve('node_modules', 'zod'), join(folder, 'node_modules', 'zod'));
}
