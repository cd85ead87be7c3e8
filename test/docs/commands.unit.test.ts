import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { CommandSpec } from '../../cli/command.ts';
import { GLOBAL_OPTIONS, optionsOf } from '../../cli/input/flags.ts';
import { allCommands } from '../../cli/tree.ts';
import { TOPICS } from '../../cli/view/help/topics.ts';
import { nameIn } from '../cli/read-line.ts';
import { stepsOf } from './page.ts';
import { allPages } from './pages.ts';

interface Package {
  readonly name: string;
  readonly version: string;
}

const commands = allCommands();

/** What is set as code: spans, and lines of blocks. */
function code(page: string): string[] {
  const blocks = [...page.matchAll(/^ *```\w*\n([\s\S]*?)^ *```$/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const prose = page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...blocks, ...[...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)];
}

/** The command lines in it, from the word after `svc` on. */
function commandLines(text: string): string[] {
  const starts = /(?:^|[a-z]*\$ |\$\(|&& |\|\| |npx |sudo |[A-Z_]+=\S+ |\n)svc ([a-z][^\n]*)/g;
  return [...text.matchAll(starts)].map(([, line = '']) => line.split(/ && | \|\| /)[0] ?? '');
}

/** `project list|use`: each of them. */
function spelledOut(line: string): string[] {
  const [, before = '', choice, after = ''] =
    /^((?:[a-z]+ )*)([a-z]+(?:\|[a-z]+)+)(.*)$/.exec(line) ?? [];
  return choice?.split('|').map((one) => before + one + after) ?? [line];
}

function problem(line: string): string | null {
  if (line === 'help all' || TOPICS.some(({ name }) => line === `help ${name}`)) return null;
  const words =
    /^[a-z]+(?: [a-z]+)*(?= |$)/.exec(line.replaceAll(/[.,;:)]$/g, ''))?.[0]?.split(' ') ?? [];
  const name = nameIn(words);
  if (name === null) return `svc ${line}`;
  const command = commands.find((one) => one.words.join(' ') === name);
  return command ? unknownFlag(line, command) : null;
}

function unknownFlag(line: string, command: CommandSpec): string | null {
  // What stands in quotes, and what a pipe leads to, has flags of its own.
  const own = line.replaceAll(/'[^']*(?:'|$)|"[^"]*(?:"|$)/g, '').split(/ [|>#] ?| -- /)[0] ?? '';
  const known = new Set([...optionsOf(command), ...GLOBAL_OPTIONS].map(({ flag }) => flag));
  const flags = [...own.matchAll(/ --([a-z-]+)/g)].map(([, flag = '']) => flag);
  const unknown = flags.find((flag) => !known.has(flag));
  return unknown === undefined ? null : `svc ${line}: --${unknown}`;
}

it.each(allPages())('names the package as `npm pack` does: %s', (path) => {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
  const named = readFileSync(path, 'utf8').match(/[\w.-]+\.tgz\b/g) ?? [];
  expect(named.filter((file) => file !== `${name}-${version}.tgz`)).toEqual([]);
});

it.each(allPages())('names only commands and flags that there are: %s', (path) => {
  const page = readFileSync(path, 'utf8');
  // A command that a page shows to be wrong.
  const wrong = new Set(
    stepsOf(page)
      .filter(({ output }) => output[0]?.startsWith('USAGE: '))
      .map(({ command }) => command.replace('svc ', '')),
  );
  const problems = code(page)
    .flatMap(commandLines)
    .flatMap(spelledOut)
    .filter((line) => !wrong.has(line))
    .map(problem)
    .filter((one) => one !== null);
  expect(problems).toEqual([]);
});

/** Commands with a comment behind them: a zsh that somebody types into takes it as arguments. */
function commented(page: string): string[] {
  const blocks = [...page.matchAll(/^ *```(?:sh|console)\n([\s\S]*?)^ *```$/gm)];
  return blocks
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => /(?:^|\s)#(?:\s|$)/.test(line.replaceAll(/'[^']*'|"[^"]*"/g, '')));
}

it.each(allPages())('has no comments in commands: %s', (path) => {
  expect(commented(readFileSync(path, 'utf8'))).toEqual([]);
});

it('finds comments behind commands', () => {
  const page = "```sh\nsvc up   # begins\nsvc kv set a '# no comment'\n# alone\n```\n";
  expect(commented(page)).toEqual(['svc up   # begins', '# alone']);
});

it('finds commands that there are not', () => {
  const lines = commandLines('$ svc inbox wiat\n$ svc inbox wait --tiemout 3\n$ svc kv list|gte x');
  expect(lines.flatMap(spelledOut).map(problem)).toEqual([
    'svc inbox wiat',
    'svc inbox wait --tiemout 3: --tiemout',
    null,
    'svc kv gte x',
  ]);
});
