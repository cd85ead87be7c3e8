import { beforeEach, describe, expect, it } from 'vitest';
import { Waits } from '../../../shared/kernel/waits.ts';

const change = { kind: 'event', source: 'open', type: 'unknown' } as const;
const started = (waits: Waits, keyId: string, check: () => Promise<string | null>) =>
  waits.wait({
    keyId,
    counted: true,
    concerns: () => true,
    check,
    timeoutMs: 300,
    signal: new AbortController().signal,
  });

function tooMany(kind: string, limit: number): unknown {
  return expect.objectContaining({
    code: 'TOO_MANY_WAITS',
    hint: `${limit} of ${limit} subscriptions of this ${kind} are open: let one end first.`,
    details: { kind, limit, used: limit },
  });
}

describe('a wait', () => {
  it('ends at its timeout under a stream that others claim', async () => {
    const waits = new Waits();
    // As long as it looks, there is something new to look at.
    const found = await started(waits, 'key_a', async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      waits.notify(change);
      return null;
    });
    expect(found).toBeNull();
  });

  it('delivers nothing that it found while its key was revoked', async () => {
    const waits = new Waits();
    const ended = started(waits, 'key_a', async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return 'an event';
    });
    const other = started(waits, 'key_b', () => Promise.resolve('an event'));
    waits.endOf('key_a');
    await expect(ended).rejects.toMatchObject({ code: 'KEY_REVOKED' });
    expect(await other).toBe('an event');
    expect(waits.size).toBe(0);
  });
});

const nobody = () => ({ changed: () => undefined, ended: () => undefined });

describe('who follows', () => {
  const heard: unknown[] = [];
  const follower = {
    changed: (what: unknown) => heard.push(what),
    ended: (code: string) => heard.push(code),
  };

  beforeEach(() => heard.splice(0));

  it('is told of every change until it leaves', () => {
    const waits = new Waits();
    const leave = waits.follow('key_a', follower);
    expect(waits.size).toBe(1);
    waits.notify({ kind: 'disk' });
    waits.notify(change);
    waits.notifyAll();
    leave();
    leave();
    waits.notify(change);
    waits.endOf('key_a');
    expect(heard).toEqual([{ kind: 'disk' }, change, null]);
    expect(waits.size).toBe(0);
  });

  it('is told when its key ends, and when all do', () => {
    const waits = new Waits();
    waits.follow('key_a', follower);
    waits.endOf('key_b');
    waits.endOf('key_a');
    waits.close();
    expect(heard).toEqual(['KEY_REVOKED', 'UNAVAILABLE']);
    expect(() => waits.follow('key_a', follower)).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE' }),
    );
  });

  it('has one of 25 places of a key, and of 100 of the project, which nobody takes from waits', async () => {
    const waits = new Waits();
    const leaves = Array.from({ length: 25 }, () => waits.follow('key_a', nobody()));
    expect(() => waits.follow('key_a', nobody())).toThrow(tooMany('key', 25));
    for (const key of ['key_b', 'key_c', 'key_d']) {
      for (let n = 0; n < 25; n += 1) waits.follow(key, nobody());
    }
    expect(() => waits.follow('key_e', nobody())).toThrow(tooMany('project', 100));
    leaves[0]?.();
    leaves[0]?.();
    expect(() => waits.follow('key_e', nobody())).not.toThrow();
    expect(() => waits.follow('key_f', nobody())).toThrow(tooMany('project', 100));
    expect(await started(waits, 'key_a', async () => 'found')).toBe('found');
  });
});
