import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The rules that refuse a test of these lines. */
async function refusalsOf(lines: string): Promise<string[]> {
  const config = {
    jsPlugins: [resolve('test/lint/time.mjs')],
    categories: { correctness: 'off' },
    rules: { 'svc/measured-time': 'error', 'svc/patient-waits': 'error' },
  };
  writeFileSync(join(folder.path, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder.path, 'some.test.ts'), lines);
  const oxlint = resolve('node_modules/.bin/oxlint');
  const argv = ['-c', 'config.json', '-f', 'unix', 'some.test.ts'];
  const { stdout } = await promisify(execFile)(oxlint, argv, { cwd: folder.path }).catch(
    (failed: { stdout: string }) => failed,
  );
  return [...stdout.matchAll(/svc\(([\w-]+)\)/g)].map(([, rule = '']) => rule);
}

describe('an assertion on how long something took', () => {
  it.each([
    'expect(performance.now() - started).toBeLessThan(500);',
    'expect(Math.max(...[Date.now() - started])).toBeLessThanOrEqual(500);',
    'const spent = performance.now() - started; expect(spent / 1000).toBeLessThan(1);',
    'const all: number[] = []; all.push(process.cpuUsage(before).user); expect(Math.min(...all)).toBeLessThan(5);',
    'const lost = async () => { await work(); return performance.now() - since; }; expect(await lost()).toBeLessThan(5);',
    'expect(performance.now() - started < 500).toBe(true);',
    'expect(result.durationMs).toBeLessThan(500);',
    'expect(senders.longestGapMs(from)).toBeLessThan(8000);',
    'expect(Math.abs(Date.now() - Date.parse(date))).toBeLessThan(60_000);',
  ])('is refused: %s', async (lines) => {
    expect(await refusalsOf(lines)).toEqual(['measured-time']);
  });

  it.each([
    'expect(performance.now() - started).toBeGreaterThan(500);',
    'expect(Date.parse(date)).toBeLessThanOrEqual(Date.now());',
    'const clock = new FakeClock(Date.now()); expect(pausesOf(clock).length).toBeLessThan(5);',
    'expect(bytes).toBeLessThan(5);',
  ])('is none: %s', async (lines) => {
    expect(await refusalsOf(lines)).toEqual([]);
  });
});

describe('a wait that gives up early', () => {
  it.each([
    'await expect.poll(isThere, { timeout: 5000 }).toBe(true);',
    'const SOON = { interval: 5, timeout: 10_000 } as const;',
    'await vi.waitFor(() => expect(isThere()).toBe(true));',
    "it('works', () => expect(1).toBe(1), 5000);",
    "it.each([1])('works', () => expect(1).toBe(1), 30_000);",
  ])('is refused: %s', async (lines) => {
    expect(await refusalsOf(lines)).toEqual(['patient-waits']);
  });

  it.each([
    'await expect.poll(isThere).toBe(true);',
    'await expect.poll(isThere, { interval: 5, timeout: 90_000 }).toBe(true);',
    'const svc = new Svc({ timeout: 50, apiKey });',
    "it('works', () => expect(1).toBe(1), 600_000);",
  ])('is none: %s', async (lines) => {
    expect(await refusalsOf(lines)).toEqual([]);
  });
});
