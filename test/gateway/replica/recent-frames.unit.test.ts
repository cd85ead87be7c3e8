import { describe, expect, it } from 'vitest';
import { RecentFrames } from '../../../gateway/replica/recent-frames.ts';

describe('frames that were read lately', () => {
  it('are found by their place', () => {
    const recent = new RecentFrames(100);
    const frames = Buffer.alloc(40);
    recent.set('one', frames);
    expect(recent.get('one')).toBe(frames);
    expect(recent.get('other')).toBeUndefined();
  });

  it('take no more room than they may: the oldest go first', () => {
    const recent = new RecentFrames(100);
    for (const place of ['one', 'two', 'three']) recent.set(place, Buffer.alloc(40));
    expect(recent.get('one')).toBeUndefined();
    expect(recent.get('two')).toHaveLength(40);
    expect(recent.get('three')).toHaveLength(40);
  });

  it('are not kept twice, nor when there are too many', () => {
    const recent = new RecentFrames(100);
    for (let n = 0; n < 5; n += 1) recent.set('one', Buffer.alloc(40));
    recent.set('two', Buffer.alloc(40));
    recent.set('large', Buffer.alloc(101));
    expect(recent.get('one')).toHaveLength(40);
    expect(recent.get('large')).toBeUndefined();
  });
});
