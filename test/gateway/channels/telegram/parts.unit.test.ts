import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../../gateway/lib/backoff.ts';
import {
  askButtons,
  parseTap,
  tapData,
  type Tap,
} from '../../../../gateway/channels/telegram/buttons.ts';
import { CallQueue } from '../../../../gateway/channels/telegram/call-queue.ts';
import { pageLink } from '../../../../gateway/channels/telegram/page-link.ts';
import { Recent } from '../../../../gateway/channels/telegram/recent.ts';
import { newProjectId, newToken } from '../../../../shared/lib/ids.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { MemoryApprovals } from './memory-approvals.ts';

describe('what a button carries', () => {
  const taps: Tap[] = [
    { verb: 'approve', sure: false },
    { verb: 'approve', sure: true },
    { verb: 'deny' },
    { verb: 'needs_context' },
    { verb: 'answer' },
    { verb: 'back' },
    ...[0, 1, 2, 3, 4].flatMap((index): Tap[] => [
      { verb: 'option', index, sure: false },
      { verb: 'option', index, sure: true },
    ]),
  ];

  it('comes back as it was, and fits with a real token', () => {
    const token = newToken(newProjectId());
    for (const tap of taps) {
      const data = tapData(tap, token);
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
      expect(parseTap(data)).toEqual({ tap, token });
    }
    expect(new Set(taps.map((tap) => tapData(tap, token))).size).toBe(taps.length);
  });

  it('is nothing but what it would be made of', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 70 }), (text) => {
        const parsed = parseTap(text);
        expect(parsed === null || tapData(parsed.tap, parsed.token) === text).toBe(true);
      }),
    );
  });
});

describe('the words on buttons', () => {
  it('say what an option does, whatever an agent calls it', () => {
    const approvals = new MemoryApprovals(new FakeClock());
    const options = ['⛔ Deny', '\u202Eynud', 'x'.repeat(200)];
    const { channelId } = approvals.addChannel('a');
    const { requestId, token } = approvals.ask(channelId, { options });
    const opened = approvals.openedBy(requestId, channelId);
    const page = pageLink('https://svc.example.com', token);
    const labels = askButtons(opened, token, page).map((row) => row[0]?.text);
    expect(labels.slice(1, 4)).toEqual([
      '✅ Approve as 1: ⛔ Deny',
      '✅ Approve as 2: \uFFFDynud',
      `✅ Approve as 3: ${'x'.repeat(59)}…`,
    ]);
  });
});

describe('pauses between tries', () => {
  const pauses = { firstMs: 1000, maxMs: 60_000 };

  it('double up to a limit, half of them left to chance', () => {
    const longest = [1, 2, 3, 6, 7, 8, 1000].map((failures) => backoffMs(failures, pauses, 1));
    expect(longest).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
    expect(backoffMs(1, pauses, 0)).toBe(500);
    expect(backoffMs(1000, pauses, 0)).toBe(30_000);
    expect(backoffMs(2, pauses, 0.5)).toBe(1500);
  });
});

describe('what is remembered for a while', () => {
  it('is forgotten when its time is over', () => {
    const clock = new FakeClock();
    const recent = new Recent<string, number>(clock, { keptMs: 100, maxCount: 10 });
    recent.set('a', 1);
    clock.advance(99);
    expect(recent.get('a')).toBe(1);
    clock.advance(1);
    expect(recent.get('a')).toBeNull();
  });

  it('is never more than allowed: the oldest goes', () => {
    const recent = new Recent<number, number>(new FakeClock(), { keptMs: 100, maxCount: 3 });
    for (const key of [1, 2, 3, 1, 4]) recent.set(key, key);
    expect([1, 2, 3, 4].map((key) => recent.get(key))).toEqual([1, null, 3, 4]);
    recent.delete(1);
    expect(recent.get(1)).toBeNull();
  });
});

const ignored = (): undefined => undefined;

describe('errands', () => {
  it('run in order within a chat, and beside one another across chats', async () => {
    const calls = new CallQueue(ignored);
    const done: string[] = [];
    let release = ignored as () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    calls.run(1, () => gate.then(() => done.push('1a')));
    calls.run(1, () => Promise.resolve(done.push('1b')));
    calls.run(2, () => Promise.resolve(done.push('2a')));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(done).toEqual(['2a']);
    release();
    await calls.idle();
    expect(done).toEqual(['2a', '1a', '1b']);
  });

  it('go on after one that failed', async () => {
    const failures: unknown[] = [];
    const calls = new CallQueue((error) => failures.push(error));
    const error = new Error('no');
    calls.run(1, () => Promise.reject(error));
    const ran: number[] = [];
    calls.run(1, () => Promise.resolve(ran.push(1)));
    await calls.idle();
    expect([failures, ran]).toEqual([[error], [1]]);
  });

  it('are left out where too many wait, and taken again afterwards', async () => {
    const calls = new CallQueue(ignored);
    let release = ignored as () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const inOneChat = Array.from({ length: 25 }, () => calls.run(1, () => gate));
    expect(inOneChat.filter(Boolean)).toHaveLength(20);
    const inMany = Array.from({ length: 600 }, (_, chat) => calls.run(chat + 2, () => gate));
    expect(inMany.filter(Boolean)).toHaveLength(480);
    expect(calls.isBusy).toBe(true);
    release();
    await calls.idle();
    expect(calls.isBusy).toBe(false);
    expect(calls.run(1, () => gate)).toBe(true);
    await calls.idle();
  });
});
