import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';
import { runAll, summary } from './torture/all.ts';
import { byMinutesAndSeed, runProgram, type Run } from './torture/runs.ts';
import { TASKS, type Task } from './torture/tasks.ts';

function torture(...args: string[]) {
  const command = ['--import', 'tsx', 'test/fault/torture.ts', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

const task = (name: string, run: Run, files: string[] = []): Task => ({
  name,
  what: 'x',
  files,
  run,
});

const bad: Run = () => Promise.reject(new Error('It broke.'));

const options = { minutes: 1, seed: 7, signal: new AbortController().signal };

describe('npm run torture', () => {
  it('lists what there is, each once', () => {
    const { status, stdout } = torture('--list');
    expect(status).toBe(0);
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]);
    expect(names).toEqual(TASKS.map(({ name }) => name));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(['kill', 'power-cut', 'simulator', 'replica']));
  });

  it('is the script of the package, and says how it is used', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['torture']).toBe('tsx test/fault/torture.ts');
    expect(torture('--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('npm run torture -- power-cut --minutes 10'),
    });
  });

  it.each([
    [['nothing'], 'There is no task "nothing". There are: kill, '],
    [['kill', '--minutes', 'x'], '--minutes is no number above 0: x'],
    [['--seed', '-'], '--seed is no whole number above 0: -'],
    [['--what'], "Unknown option '--what'"],
  ])('refuses %j', (args, message) => {
    const { status, stdout, stderr } = torture(...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('the tasks', () => {
  it('run one after the other with the same options, and none keeps another from it', async () => {
    const said: string[] = [];
    const seen: unknown[] = [];
    const good: Run = async ({ minutes, seed, say }) => {
      seen.push([minutes, seed]);
      say('a round');
      return { ok: true, detail: '3 rounds' };
    };
    const tasks = [
      task('one', bad),
      task('two', good, ['no/such/file.ts']),
      task('three', good, ['package.json']),
    ];
    const results = await runAll(tasks, { ...options, say: (text) => said.push(text) });
    expect(results).toMatchObject([
      { name: 'one', ok: false, detail: 'It broke.' },
      { name: 'two', ok: false, detail: 'no/such/file.ts is not here' },
      { name: 'three', ok: true, detail: '3 rounds' },
    ]);
    expect(seen).toEqual([[1, 7]]);
    expect(said).toContain('three: a round');
    expect(summary(results).split('\n')).toEqual([
      'task   result  seconds  detail',
      'one    FAILED  0        It broke.',
      'two    FAILED  0        no/such/file.ts is not here',
      'three  held    0        3 rounds',
    ]);
  });

  it('end with the one at hand when they are interrupted', async () => {
    const ending = new AbortController();
    const tasks = [
      task('one', async () => {
        ending.abort();
        return { ok: true, detail: '' };
      }),
      task('two', () => Promise.reject(new Error('It was not to run.'))),
    ];
    const results = await runAll(tasks, {
      ...options,
      signal: ending.signal,
      say: () => undefined,
    });
    expect(results.map(({ name }) => name)).toEqual(['one']);
  });

  it('that are programs are told what was asked for, passed on, and judged by how they end', async () => {
    const folder = temporaryFolder();
    const path = join(folder.path, 'program.mjs');
    const source = `console.log(process.argv.slice(2).join(' '));
      console.log(process.env.SVC_TEST_SEED);
      process.exitCode = Number(process.env.SVC_TEST_SEED) === 7 ? 1 : 0;`;
    writeFileSync(path, source);
    const said: string[] = [];
    const say = (text: string): void => void said.push(text);
    const run = runProgram(path, byMinutesAndSeed);
    expect(await run({ ...options, say })).toEqual({ ok: false, detail: '7' });
    expect(await run({ ...options, seed: 8, say })).toEqual({ ok: true, detail: '8' });
    expect(said).toEqual(['--minutes 1 --seed 7', '7', '--minutes 1 --seed 8', '8']);
    folder.remove();
  });
});
