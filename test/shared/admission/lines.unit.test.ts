import { describe, expect, it } from 'vitest';
import { Admission } from '../../../shared/admission/admission.ts';

/** Work that ends when a test says so. */
function work() {
  const ends: (() => void)[] = [];
  const promise = new Promise<void>((resolve) => ends.push(resolve));
  let begun = 0;
  return {
    done: () => {
      for (const end of ends) end();
    },
    begun: () => begun,
    run: () => {
      begun += 1;
      return promise;
    },
  };
}

async function settle(): Promise<void> {
  for (let n = 0; n < 10; n += 1) await Promise.resolve();
}

describe('long work', () => {
  it('of one kind and project runs one by one', async () => {
    const admission = Admission.local();
    const [first, second, other] = [work(), work(), work()];
    const all = [
      admission.alone('long reads', 'prj_a', { work: first.run }),
      admission.alone('long reads', 'prj_a', { work: second.run }),
      admission.alone('searches', 'prj_a', { work: other.run }),
      admission.alone('long reads', 'prj_b', { work: other.run }),
    ];
    await settle();
    expect([first.begun(), second.begun(), other.begun()]).toEqual([1, 0, 2]);
    first.done();
    await settle();
    expect(second.begun()).toBe(1);
    second.done();
    other.done();
    await Promise.all(all);
  });

  it('goes on after one that failed', async () => {
    const admission = Admission.local();
    const failed = admission.alone('searches', 'prj_a', {
      work: () => Promise.reject(new Error('failed')),
    });
    const next = admission.alone('searches', 'prj_a', { work: async () => 'done' });
    await expect(failed).rejects.toThrow('failed');
    await expect(next).resolves.toBe('done');
  });

  it('leaves the line with its caller', async () => {
    const admission = Admission.local();
    const first = work();
    const running = admission.alone('searches', 'prj_a', { work: first.run });
    const caller = new AbortController();
    const left = work();
    const waiting = admission.alone('searches', 'prj_a', { work: left.run, signal: caller.signal });
    const next = admission.alone('searches', 'prj_a', { work: async () => 'done' });
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    first.done();
    await expect(next).resolves.toBe('done');
    await running;
    expect(left.begun()).toBe(0);
  });

  it('is refused where eight wait already', async () => {
    const admission = Admission.local();
    const one = work();
    const all = Array.from({ length: 9 }, () =>
      admission.alone('long reads', 'prj_a', { work: one.run }),
    );
    await settle();
    const refused = admission.alone('long reads', 'prj_a', { work: one.run });
    await expect(refused).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      hint: '8 long reads of this project wait already, and one runs at a time: repeat it in 5 seconds.',
      details: { retry_after: 5, limit: 8, used: 8, of: 'project' },
    });
    one.done();
    await Promise.all(all);
  });
});

describe('unread answers', () => {
  it('of one holder are limited, and leave room for others', () => {
    const admission = Admission.hosted();
    const MIB = 1024 * 1024;
    const read = admission.leaveUnread(60 * MIB, { project: 'prj_a' });
    expect(read).not.toBeNull();
    expect(admission.leaveUnread(5 * MIB, { project: 'prj_a' })).toBeNull();
    expect(admission.leaveUnread(5 * MIB, { address: '192.0.2.1' })).not.toBeNull();
    read?.();
    expect(admission.leaveUnread(5 * MIB, { project: 'prj_a' })).not.toBeNull();
  });
});
