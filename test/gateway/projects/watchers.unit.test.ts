import { expect, it, vi } from 'vitest';
import { Watchers, type Topic } from '../../../gateway/projects/watchers.ts';

const STANDING = { position: 1, log: null };

function watching(watchers: Watchers): { told: Topic[][]; leave: () => void; ended: () => number } {
  const told: Topic[][] = [];
  let ended = 0;
  const leave = watchers.add({
    changed: (topics) => told.push([...topics]),
    ended: () => (ended += 1),
  });
  return { told, leave, ended: () => ended };
}

it('tells together what comes together, and nothing to who has left', () => {
  vi.useFakeTimers();
  let joined = 0;
  const watchers = new Watchers(() => (joined += 1));
  watchers.note({ kind: 'notices_due' });
  const [one, two] = [watching(watchers), watching(watchers)];
  watchers.note({ kind: 'committed', replication: STANDING });
  watchers.note({ kind: 'event_ready', source: 's', type: 't' });
  watchers.note({ kind: 'mails_due' });
  two.leave();
  vi.advanceTimersByTime(1000);
  watchers.note({ kind: 'foreign' });
  vi.advanceTimersByTime(1000);
  expect(one.told).toEqual([
    ['any', 'events'],
    ['any', 'requests', 'events', 'routes', 'sources', 'channels', 'keys'],
  ]);
  expect([two.told, joined, watchers.size]).toEqual([[], 2, 1]);
  watchers.close();
  expect([one.ended(), two.ended(), watching(watchers).ended()]).toEqual([1, 0, 1]);
  vi.useRealTimers();
});
