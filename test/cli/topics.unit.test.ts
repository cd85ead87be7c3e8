import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../cli/exit.ts';
import { run } from '../../cli/run.ts';
import { allCommands } from '../../cli/tree.ts';
import { seeAlso } from '../../cli/view/help/see-also.ts';
import { TOPICS } from '../../cli/view/help/topics.ts';
import { TextSink } from './fake-output.ts';

const names = allCommands().map(({ words }) => words.join(' '));
const pages = TOPICS.map(({ name }) => `help ${name}`);

async function svc(...argv: string[]) {
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const { signal } = new AbortController();
  const env = { SVC_HOME: '/nonexistent' };
  const code = await run(argv, { env, stdout, stderr, signal });
  return { code, out: stdout.text, err: stderr.text };
}

/** What code of these folders says of the environment. */
function variablesIn(...folders: string[]): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path)),
  );
  const read = /env\w*(?:\.|\??\.?\[')(SVC_[A-Z_]+)|\b(SVC_EVENT_[A-Z]+|SVC_LEASE_ID):/g;
  const found = files.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(read)].map(([, one, other]) => one ?? other ?? ''),
  );
  return [...new Set(found)].toSorted();
}

describe('pages of help', () => {
  it.each(TOPICS)('$name is printed, and named by the overview', async ({ name, summary }) => {
    const { code, out, err } = await svc('help', name);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.startsWith(`${summary}\n`)).toBe(true);
    expect((await svc('help', 'all')).out).toContain(`help ${name} `);
  });

  it('take no name that a command has', () => {
    expect(TOPICS.filter(({ name }) => names.includes(name))).toEqual([]);
  });

  it('the one about the environment has every variable that commands and the daemon read', async () => {
    const variables = variablesIn('cli', 'daemon');
    expect(variables.length).toBeGreaterThan(8);
    const { out } = await svc('help', 'environment');
    expect(variables.filter((name) => !out.includes(`  ${name} `))).toEqual([]);
  });

  it('the one about exit codes has every exit code', async () => {
    const { out } = await svc('help', 'exit-codes');
    for (const code of Object.values(EXIT)) expect(out).toMatch(new RegExp(`^ {2}${code} `, 'm'));
  });

  it('name commands that are there', () => {
    const shown = TOPICS.flatMap(({ sections }) => sections.flatMap(([, pairs]) => pairs.flat()));
    const used = shown
      .flatMap((text) => [...text.matchAll(/svc ([a-z][a-z ]*)/g)])
      .map(([, words = '']) => words.trim());
    const known = [...names, ...TOPICS.map(({ name }) => `help ${name}`)];
    const unknown = used.filter(
      (words) => !known.some((name) => `${words} `.startsWith(`${name} `)),
    );
    // Nouns of several commands, in headings and remarks.
    expect(new Set(unknown)).toEqual(new Set(['ask', 'outbox']));
  });
});

describe('what to see beside a command', () => {
  it('is there, and is there for most', () => {
    const all = allCommands();
    const related = all.map((command) => seeAlso(command, all));
    expect(related.flat().filter((one) => ![...names, ...pages].includes(one))).toEqual([]);
    expect(related.filter((some) => some.length === 0)).toEqual([]);
  });

  it('stands at the end of its help', async () => {
    const { out } = await svc('inbox', 'claim', '--help');
    expect(out).toContain(
      'See also: svc inbox ack, svc inbox nack, svc inbox extend, svc inbox work\n',
    );
  });
});

it('a command that may find nothing says which exit code that has', async () => {
  for (const words of [
    ['inbox', 'wait'],
    ['kv', 'get'],
    ['state', 'load'],
  ]) {
    expect((await svc(...words, '--help')).out).toMatch(/^Exit codes:\n {2}3 {2}\w/m);
  }
});
