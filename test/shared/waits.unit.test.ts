import { describe, expect, it } from 'vitest';
import { Waits } from '../../shared/waits.ts';

const change = { kind: 'event', source: 'open', type: 'unknown' } as const;
const started = (waits: Waits, keyId: string, look: () => Promise<string | null>) =>
  waits.wait({
    keyId,
    counted: true,
    concerns: () => true,
    look,
    timeoutMs: 300,
    signal: new AbortController().signal,
  });

describe('a wait', () => {
  it('ends at its timeout under a stream that others claim', async () => {
    const waits = new Waits();
    const from = performance.now();
    const found = await started(waits, 'key_a', async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (performance.now() - from > 3000) throw new Error('It never ends.');
      waits.notify(change);
      return null;
    });
    expect(found).toBeNull();
    expect(performance.now() - from).toBeLessThan(1000);
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
