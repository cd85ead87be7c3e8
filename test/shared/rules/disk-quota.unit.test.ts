import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DISK_KEYS_MAX, DISK_MAX_BYTES } from '../../../shared/lib/limits.ts';
import { quotaPassed, usedBytes } from '../../../shared/rules/disk/disk-quota.ts';

const NOTHING = { keys: 0, keyBytes: 0, fileBytes: 0, uploadBytes: 0 };

describe('the quota of the disk', () => {
  it('counts values, files and what open uploads may bring', () => {
    expect(usedBytes({ keys: 9, keyBytes: 1, fileBytes: 20, uploadBytes: 300 })).toBe(321);
  });

  it('is 10,000 keys, exactly', () => {
    const one = { keys: 1, bytes: 0 };
    expect(quotaPassed({ ...NOTHING, keys: DISK_KEYS_MAX - 1 }, one)).toBeNull();
    expect(quotaPassed({ ...NOTHING, keys: DISK_KEYS_MAX }, one)).toEqual({
      kind: 'keys',
      limit: 10_000,
      used: 10_000,
    });
  });

  it('is 1 GB, exactly', () => {
    const full = { ...NOTHING, keyBytes: 1, fileBytes: 2, uploadBytes: DISK_MAX_BYTES - 13 };
    expect(quotaPassed(full, { keys: 1, bytes: 10 })).toBeNull();
    expect(quotaPassed(full, { keys: 1, bytes: 11 })).toEqual({
      kind: 'bytes',
      limit: 1_073_741_824,
      used: DISK_MAX_BYTES - 10,
    });
  });

  it('names the keys first where both are passed', () => {
    const full = { ...NOTHING, keys: DISK_KEYS_MAX, fileBytes: DISK_MAX_BYTES };
    expect(quotaPassed(full, { keys: 1, bytes: 1 })).toMatchObject({ kind: 'keys' });
    expect(quotaPassed(full, { keys: 0, bytes: 1 })).toMatchObject({ kind: 'bytes' });
  });

  it('never refuses what grows nothing, however full the disk is', () => {
    const sum = fc.nat({ max: DISK_MAX_BYTES * 2 });
    const sums = fc.record({ keys: sum, keyBytes: sum, fileBytes: sum, uploadBytes: sum });
    const change = fc.record({
      keys: fc.constantFrom(0, -1),
      bytes: fc.integer({ min: -DISK_MAX_BYTES, max: 0 }),
    });
    const property = fc.property(sums, change, (held, shrinking) => {
      expect(quotaPassed(held, shrinking)).toBeNull();
    });
    fc.assert(property);
  });
});
