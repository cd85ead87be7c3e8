import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Line } from '../../../daemon/replica/line.ts';
import { SourceError } from '../../../daemon/replica/source-error.ts';
import { hurryTime } from '../../helpers/hurried-time.ts';

const NEVER = new AbortController().signal;

interface Try {
  readonly answer: (value: string) => void;
  readonly fail: (error: Error) => void;
  readonly signal: AbortSignal;
}

let tries: Try[];
let seen: string[];
let line: Line<string>;

beforeEach(() => {
  tries = [];
  seen = [];
  line = new Line<string>({
    ask: (signal) =>
      new Promise((answer, fail) => {
        tries.push({ answer, fail, signal });
        signal.addEventListener('abort', () => fail(signal.reason as Error));
      }),
    onQuiet: () => void seen.push('quiet'),
    onLost: () => void seen.push('lost'),
    onAnswer: (answer, wasSilent) => void seen.push(`${answer}${wasSilent ? ' at last' : ''}`),
  });
});
afterEach(() => line.close());

describe('a question', () => {
  it('is one for all who ask', async () => {
    const asked = [line.reach(NEVER), line.reach(NEVER)];
    expect([tries.length, line.isAsking]).toEqual([1, true]);
    tries[0]?.answer('here');
    expect(await Promise.all(asked)).toEqual(['here', 'here']);
    expect([seen, line.isAsking]).toEqual([['here'], false]);
  });

  it('is asked again beside a silent one, and its first answer counts', async () => {
    hurryTime();
    const asked = line.reach(NEVER);
    await expect.poll(() => tries.length, { timeout: 60_000 }).toBeGreaterThan(2);
    tries[1]?.answer('here');
    expect(await asked).toBe('here');
    expect(tries.every(({ signal }) => signal.aborted)).toBe(true);
    expect(seen).toContain('here at last');
  });

  it('fails with what came of it, for all', async () => {
    const asked = [line.reach(NEVER), line.reach(NEVER)];
    tries[0]?.fail(new SourceError('unreachable', 'Refused.'));
    for (const one of asked) await expect(one).rejects.toThrow('Refused.');
    expect(seen).toEqual([]);
  });

  it('goes on though somebody leaves', async () => {
    const leaving = new AbortController();
    const left = line.reach(leaving.signal);
    const stayed = line.reach(NEVER);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    tries[0]?.answer('here');
    expect(await stayed).toBe('here');
  });
});

describe('a gateway', () => {
  it('that is silent for five seconds is away', async () => {
    hurryTime();
    const asked = line.reach(NEVER);
    await expect.poll(() => seen, { timeout: 60_000 }).toContain('lost');
    expect(seen[0]).toBe('quiet');
    tries[0]?.answer('late');
    expect(await asked).toBe('late');
    const { length } = seen;
    // Nothing is said after the answer.
    await sleep(1000);
    expect(seen).toHaveLength(length);
  });
});
