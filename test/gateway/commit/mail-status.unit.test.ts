import { describe, expect, it } from 'vitest';
import { isPassing, isUnknownAddress } from '../../../gateway/commit/commands/mail/mail-status.ts';

describe('what a status says of a recipient', () => {
  it.each([
    // Nobody is there.
    ['5.1.1', 'gone', true],
    ['5.1.2', 'gone', true],
    ['5.1.10', 'gone', true],
    ['5.0.0', 'gone', false],
    ['5.2.1', 'gone', false],
    ['5.4.1', 'gone', false],
    [null, 'gone', false],
    // Another mail may arrive.
    ['4.2.2', 'passing', false],
    ['4.7.0', 'passing', false],
    ['5.2.2', 'passing', false],
    ['5.2.3', 'passing', false],
    ['5.3.4', 'passing', false],
    ['5.6.0', 'passing', false],
    ['5.7.1', 'passing', false],
    ['5.7.26', 'passing', false],
    ['5.2.22', 'gone', false],
  ])('%s', (status, meaning, isUnknown) => {
    expect(isPassing(status)).toBe(meaning === 'passing');
    expect(isUnknownAddress(status)).toBe(isUnknown);
  });
});
