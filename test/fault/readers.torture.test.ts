import { describe, expect, it } from 'vitest';
import { soakReaders } from './readers/soak.ts';

describe('readers beside a writer that folds its log in all the time', () => {
  it('never see half a commit, nor an older one, and the file stays sound', async () => {
    const result = await soakReaders((commits) => commits >= 1000);
    expect(result.wrong).toEqual([]);
    expect(result.rotations).toBeGreaterThan(20);
    expect(result.checks).toBeGreaterThan(1);
    expect(result.snapshots).toBeGreaterThan(100);
  });
});
