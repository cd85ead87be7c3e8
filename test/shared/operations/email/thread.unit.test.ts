import { describe, expect, it } from 'vitest';
import { threadIds } from '../../../../shared/operations/email/thread.ts';

const some = (count: number) => Array.from({ length: count }, (_, nth) => `<r${nth}@example.com>`);

describe('the ids that tell a thread', () => {
  it('are In-Reply-To, then References from the last one', () => {
    expect(threadIds({ in_reply_to: '<1@x>', references: ['<3@x>', '<2@x>', '<1@x>'] })).toEqual([
      '<1@x>',
      '<2@x>',
      '<3@x>',
    ]);
    expect(threadIds({ in_reply_to: null, references: [] })).toEqual([]);
  });

  it('are 20 of thousands, the first one among them', () => {
    const ids = threadIds({ in_reply_to: '<1@x>', references: some(5000) });
    expect(ids).toHaveLength(20);
    expect(ids.slice(0, 2)).toEqual(['<1@x>', '<r4999@example.com>']);
    expect(ids.at(-1)).toBe('<r0@example.com>');
  });

  it('count once, however often a mail names them', () => {
    const references = Array.from({ length: 5000 }, () => '<1@x>');
    expect(threadIds({ in_reply_to: '<1@x>', references })).toEqual(['<1@x>']);
  });
});
