import { describe, expect, it } from 'vitest';
import { Progress } from '../../../../../gateway/mail/inbound/mailbox/progress.ts';

const PAUSES = { firstMs: 1000, maxMs: 60_000 };
const NOW = 1_000_000;

function progressAt(uid: number): Progress {
  return new Progress({ uidValidity: 7, uid }, PAUSES);
}

describe('how far a mailbox is read', () => {
  it('moves over mails that are put away, and over no other', () => {
    const progress = progressAt(10);
    progress.list([11, 12, 15, 16]);
    expect(progress.due(NOW)).toEqual([11, 12, 15, 16]);
    for (const uid of [11, 15, 16]) progress.take(uid, 'delivered');
    expect(progress.advance()).toBe(false);
    progress.putAway([11, 15, 16]);
    expect(progress.advance()).toBe(true);
    expect(progress.cursor).toEqual({ uidValidity: 7, uid: 11 });
    progress.take(12, 'duplicate');
    progress.putAway([12]);
    expect(progress.advance()).toBe(true);
    expect(progress.cursor).toEqual({ uidValidity: 7, uid: 16 });
    expect(progress.advance()).toBe(false);
  });

  it('does not move over what is taken and not put away', () => {
    const progress = progressAt(0);
    progress.list([1, 2]);
    progress.take(1, 'delivered');
    progress.take(2, 'delivered');
    progress.putAway([2]);
    expect(progress.advance()).toBe(false);
    expect([...progress.taken.keys()]).toEqual([1]);
  });

  it('does not offer again what is taken or put away, though it still lies there', () => {
    const progress = progressAt(0);
    progress.list([1, 2, 3, 4]);
    progress.take(2, 'delivered');
    progress.take(3, 'delivered');
    progress.putAway([3]);
    progress.list([1, 2, 3, 4, 5]);
    expect(progress.due(NOW)).toEqual([1, 4, 5]);
    expect(progress.backlog).toBe(3);
  });

  it('needs nothing of a mail that somebody else removed', () => {
    const progress = progressAt(0);
    progress.list([1, 2]);
    progress.take(2, 'delivered');
    progress.putAway([2]);
    progress.list([2]);
    expect(progress.advance()).toBe(true);
    expect(progress.cursor.uid).toBe(2);
  });

  it('sets a mail aside that failed three times: the others first, and it after a while', () => {
    const progress = progressAt(0);
    progress.list([1, 2]);
    progress.fail(1, NOW);
    progress.fail(1, NOW);
    expect(progress.due(NOW)).toEqual([1, 2]);
    expect(progress.nextDueAt).toBeNull();
    progress.fail(1, NOW);
    expect(progress.isAside(1)).toBe(true);
    expect(progress.due(NOW)).toEqual([2]);
    const dueAt = progress.nextDueAt ?? 0;
    expect(dueAt).toBeGreaterThan(NOW + 1000);
    expect(progress.due(dueAt)).toEqual([2, 1]);
    // At most so long apart, however often.
    for (let tries = 0; tries < 100; tries += 1) progress.fail(1, NOW);
    expect(progress.nextDueAt).toBeLessThanOrEqual(NOW + PAUSES.maxMs);
    progress.take(1, 'delivered');
    expect(progress.nextDueAt).toBeNull();
  });

  it('forgets the failures of a mail that is gone', () => {
    const progress = progressAt(0);
    progress.list([1]);
    for (const _ of [1, 2, 3]) progress.fail(1, NOW);
    progress.list([]);
    expect(progress.nextDueAt).toBeNull();
    expect(progress.backlog).toBe(0);
  });

  it('begins anew where UIDs mean something else', () => {
    const progress = progressAt(10);
    progress.list([11, 12]);
    progress.take(12, 'delivered');
    progress.fail(11, NOW);
    expect(progress.onConnected(7)).toBe(false);
    expect(progress.cursor.uid).toBe(10);
    expect(progress.onConnected(8)).toBe(true);
    expect(progress.cursor).toEqual({ uidValidity: 8, uid: 0 });
    expect(progress.backlog + progress.taken.size).toBe(0);
    progress.list([1, 2]);
    expect(progress.due(NOW)).toEqual([1, 2]);
  });

  it('begins anew where the next UID is one that it has passed', () => {
    const progress = progressAt(10);
    expect(progress.onConnected(7, 11)).toBe(false);
    expect(progress.onConnected(7, 10)).toBe(true);
    expect(progress.cursor).toEqual({ uidValidity: 7, uid: 0 });
    expect(progress.onConnected(7, 10)).toBe(false);
  });

  it('knows of a mailbox that was never read that nothing changed', () => {
    const progress = new Progress(undefined, PAUSES);
    expect(progress.onConnected(8)).toBe(false);
    expect(progress.cursor).toEqual({ uidValidity: 8, uid: 0 });
  });

  it('copes with a mailbox of a quarter of a million mails', () => {
    const progress = progressAt(0);
    const uids = Array.from({ length: 250_000 }, (_, index) => index + 1);
    progress.list(uids);
    progress.putAway(uids.slice(1));
    expect(progress.advance()).toBe(false);
    progress.putAway([1]);
    expect(progress.advance()).toBe(true);
    expect(progress.cursor.uid).toBe(250_000);
  });
});
