import { expect, it } from 'vitest';
import { run } from '../../cli/run.ts';
import { allCommands } from '../../cli/tree.ts';
import { TextSink } from './fake-output.ts';

async function printed(...argv: string[]): Promise<string> {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const env = { SVC_HOME: '/nonexistent' };
  await run(argv, { env, stdout, stderr, signal: new AbortController().signal });
  return stdout.text;
}

it.each([[[]], [['--help']], [['help']]])('svc %j fits one screen of 80 by 24', async (argv) => {
  const lines = (await printed(...argv)).trimEnd().split('\n');
  expect(lines.length).toBeLessThan(25);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

it('names only commands that exist, from every part of svc', async () => {
  const known = new Set(allCommands().map(({ words }) => words.join(' ')));
  const [, section = ''] = (await printed()).split('Commands (svc <command> --help):\n');
  const named = (section.split('\n\n')[0] ?? '').split('\n').flatMap((line) =>
    line
      .trim()
      .replace(/^\w+ +/, '')
      .split(', '),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('svc help all lists every command', async () => {
  const all = await printed('help', 'all');
  const missing = allCommands().filter(({ words }) => !all.includes(`  ${words.join(' ')} `));
  expect(missing.map(({ words }) => words.join(' '))).toEqual([]);
});
