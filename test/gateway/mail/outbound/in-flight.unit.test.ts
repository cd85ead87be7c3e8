import { describe, expect, it } from 'vitest';
import { InFlightMail } from '../../../../gateway/mail/outbound/in-flight.ts';

const PIECES = [Buffer.alloc(300_000, 'a'), Buffer.alloc(300_000, 'b')];

describe('a mail on its way', () => {
  it('is whole when its end was read, and not before', async () => {
    const flight = new InFlightMail(PIECES);
    expect(flight.isWhole).toBe(false);
    const seen: boolean[] = [];
    let bytes = 0;
    for await (const slice of flight.open()) {
      bytes += (slice as Buffer).length;
      if (bytes < 400_000) seen.push(flight.isWhole);
    }
    expect(bytes).toBe(600_000);
    expect(new Set(seen)).toEqual(new Set([false]));
    expect(flight.isWhole).toBe(true);
  });

  it('is not whole when the connection was lost before its end', async () => {
    const flight = new InFlightMail(PIECES);
    // oxlint-disable-next-line no-unreachable-loop -- the loop that is left destroys the stream
    for await (const slice of flight.open()) {
      expect((slice as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect(flight.isWhole).toBe(false);
    // Bytes of it went out all the same: no other connection gets them.
    const again = flight.open();
    await expect(again.toArray()).rejects.toThrow('may have been taken');
  });
});
