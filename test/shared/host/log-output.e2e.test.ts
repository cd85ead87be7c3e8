import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { LogOutput } from '../../../shared/host/log-output.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const LINE = `${JSON.stringify({ msg: 'x'.repeat(700) })}\n`;

const folder = temporaryFolder();
let name = 0;
/** Closed at the end alone: a write in the background must not meet another test's file of the same number. */
const open = new Set<number>();
afterAll(() => {
  for (const fd of open) closeSync(fd);
  folder.remove();
});

function opened(path: string, flags: number): number {
  const fd = openSync(path, flags);
  open.add(fd);
  return fd;
}

/** Both ends of a pipe that refuses what doesn't fit, as a disk does that is full. */
let reader = 0;
let writer = 0;
beforeEach(() => {
  const path = join(folder.path, `pipe${(name += 1)}`);
  execFileSync('mkfifo', [path]);
  reader = opened(path, O_RDONLY | O_NONBLOCK);
  writer = opened(path, O_WRONLY | O_NONBLOCK);
});

/** All that is in the pipe. */
function drained(): string {
  const parts: Buffer[] = [];
  const buffer = Buffer.alloc(65_536);
  for (;;) {
    let bytes = 0;
    try {
      bytes = readSync(reader, buffer);
    } catch {
      // Nothing is left, and the writer is still there.
    }
    if (bytes === 0) return Buffer.concat(parts).toString();
    parts.push(Buffer.from(buffer.subarray(0, bytes)));
  }
}

const parsed = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe.each([{ background: false }, { background: true }])('a log ($background)', (how) => {
  it('loses its lines and throws nothing on a disk that is full', async () => {
    const output = new LogOutput(opened('/dev/full', O_WRONLY), how);
    const log = pino({}, output);
    const lines = async () => {
      for (let n = 0; n < 50; n += 1) log.error({ n }, 'refused');
      log.fatal('failed');
      await new Promise((done) => setImmediate(done));
      output.end();
    };
    await expect(lines()).resolves.toBeUndefined();
  });

  it('loses its lines and throws nothing when its reader has gone', async () => {
    const output = new LogOutput(writer, how);
    closeSync(reader);
    open.delete(reader);
    const lines = async () => {
      for (let n = 0; n < 50; n += 1) output.write(LINE);
      await new Promise((done) => setImmediate(done));
      output.end();
    };
    await expect(lines()).resolves.toBeUndefined();
  });
});

describe('a log that can be written again', () => {
  it('says once how many lines it has lost, and stays lines of JSON', () => {
    const output = new LogOutput(writer, { background: false });
    for (let n = 0; n < 200; n += 1) output.write(LINE);
    const before = drained();
    const whole = before.split('\n').length - 1;
    expect(whole).toBeGreaterThan(10);
    output.write('{"msg":"again"}\n');
    output.write('{"msg":"and again"}\n');
    const after = drained();
    // The line that was cut off is not made one with the next.
    expect(after.startsWith(before.endsWith('\n') ? '{' : '\n{')).toBe(true);
    expect(parsed(after)).toEqual([
      expect.objectContaining({
        level: 40,
        time: expect.any(Number),
        lines: 200 - whole,
        code: 'EAGAIN',
        msg: 'lines of this log could not be written',
      }),
      { msg: 'again' },
      { msg: 'and again' },
    ]);
  });

  it('loses nothing in the background while there is room for what waits', async () => {
    const output = new LogOutput(writer, { background: true });
    for (let n = 0; n < 1000; n += 1) output.write(LINE);
    let text = '';
    await expect
      .poll(() => {
        text += drained();
        return parsed(text).length;
      })
      .toBe(1000);
    expect(text).toBe(LINE.repeat(1000));
  });

  it('keeps no more for a reader who stalls than it may, and says what it has lost', async () => {
    const output = new LogOutput(writer, { background: true });
    const count = 3000;
    for (let n = 0; n < count; n += 1) output.write(LINE);
    let text = '';
    const told = () => parsed(text).filter(({ lines }) => lines !== undefined);
    const kept = () => text.split('\n').filter((line) => `${line}\n` === LINE).length;
    await expect
      .poll(() => {
        text += drained();
        return kept() + Number(told()[0]?.['lines'] ?? 0);
      })
      .toBe(count);
    expect(told()).toHaveLength(1);
    expect(kept() * LINE.length).toBeLessThan(2 * 1024 * 1024);
  });
});
