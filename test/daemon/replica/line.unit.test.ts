import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Line } from '../../../daemon/replica/sync/line.ts';
import { SourceError } from '../../../daemon/replica/sync/source-error.ts';
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
    onLate: () => void seen.push('late'),
    onLost: () => void seen.push('lost'),
    onAnswer: (answer, { wasSilent }) => void seen.push(`${answer}${wasSilent ? ' at last' : ''}`),
  });
});
afterEach(() => line.close());

function lost(): number {
  return seen.filter((one) => one === 'lost').length;
}

async function silentFor(seconds: number): Promise<void> {
  await expect.poll(lost, { timeout: 120_000 }).toBe(seconds / 5);
}

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
  it('that hangs for a minute has few questions to answer after it', async () => {
    hurryTime();
    const asked = line.reach(NEVER);
    await silentFor(30);
    // It was open all the time, in case the gateway is only slow, and nobody waits longer.
    tries[0]?.fail(new SourceError('unreachable', 'Too long.'));
    await expect(asked).rejects.toThrow('Too long.');
    const again = line.reach(NEVER);
    await silentFor(60);
    expect(tries.length).toBeLessThan(30);
    tries.at(-1)?.answer('here');
    expect(await again).toBe('here');
  });

  it('that hangs while callers wait for it has one question for all of them at a time', async () => {
    hurryTime();
    const asked = Array.from({ length: 20 }, () => line.insist(NEVER));
    const reading = setInterval(() => line.need(), 100);
    await silentFor(60);
    clearInterval(reading);
    expect(tries.length).toBeGreaterThan(30);
    expect(tries.length).toBeLessThan(80);
    tries.at(-1)?.answer('here');
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['here']));
  });

  it('that is silent for five seconds is away', async () => {
    hurryTime();
    const asked = line.reach(NEVER);
    await expect.poll(() => seen, { timeout: 60_000 }).toContain('lost');
    expect(seen.slice(0, 2)).toEqual(['quiet', 'late']);
    tries[0]?.answer('late');
    expect(await asked).toBe('late');
    const { length } = seen;
    // Nothing is said after the answer.
    await sleep(1000);
    expect(seen).toHaveLength(length);
  });
});
