import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rotateLog } from '../../daemon/log/log-file.ts';
import { followLines, lastLines } from '../../daemon/log/log-tail.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  file = join(folder, 'daemon.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('lastLines', () => {
  it('reads only the end, across chunks', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index} ${'é'.repeat(40)}`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    expect(await lastLines(file, 3)).toEqual(lines.slice(-3));
    expect(await lastLines(file, 3000)).toEqual(lines.slice(-3000));
    expect(await lastLines(file, 9999)).toEqual(lines);
    expect(await lastLines(file, 0)).toEqual([]);
  });

  it('has nothing to say of a file that is not there', async () => {
    expect(await lastLines(file, 5)).toEqual([]);
  });
});

/** The follower may not yet have opened the file. */
function appendUntilSeen(line: string, seen: readonly string[]): boolean {
  appendFileSync(file, `${line}\n`);
  return seen.includes(line);
}

describe('followLines', () => {
  it('goes on across a rotation and loses no line', async () => {
    writeFileSync(file, 'before\n');
    const seen: string[] = [];
    const stop = new AbortController();
    const following = followLines(file, (line) => seen.push(line), stop.signal);
    await expect.poll(() => appendUntilSeen('one', seen)).toBe(true);
    appendFileSync(file, 'half');
    renameSync(file, `${file}.1`);
    appendFileSync(`${file}.1`, ' a line\n');
    writeFileSync(file, 'two\n');
    await expect.poll(() => seen.includes('two')).toBe(true);
    stop.abort();
    await following;
    expect(seen.filter((line) => line !== 'one')).toEqual(['half a line', 'two']);
  });
});

describe('rotateLog', () => {
  it('moves a large log to .1 and leaves a small one', async () => {
    writeFileSync(file, 'x'.repeat(100));
    rotateLog(file, 100);
    expect(await lastLines(file, 1)).toHaveLength(1);
    rotateLog(file, 99);
    expect(await lastLines(file, 1)).toHaveLength(0);
    expect(await lastLines(`${file}.1`, 1)).toHaveLength(1);
  });
});
