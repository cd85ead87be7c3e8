import { describe, expect, it } from 'vitest';
import { blockReasonOf } from '../../../daemon/replica/block-reason.ts';
import { SourceError } from '../../../daemon/replica/sync/source-error.ts';

describe('a refusal by the gateway', () => {
  it('of a key that is limited to prefixes says so, and removes the replica', () => {
    const details = { scope: 'disk', prefixes: ['team-a/'] };
    const error = SourceError.ofStatus(403, 'SCOPE_MISSING', 'It lacks a scope.', details);
    expect(blockReasonOf(error)).toEqual({
      state: 'none',
      detail: 'This key is limited to prefixes of the disk; a replica is the whole project.',
      code: 'SCOPE_MISSING',
      remedy: 'remove',
    });
  });

  it('of a key that lacks a scope is another one', () => {
    const error = SourceError.ofStatus(403, 'SCOPE_MISSING', 'It lacks one.', { scope: 'disk' });
    expect(blockReasonOf(error)).toMatchObject({ state: 'refused', code: 'SCOPE_MISSING' });
  });
});
