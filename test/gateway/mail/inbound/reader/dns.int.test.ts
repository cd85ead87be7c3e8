import { createSocket, type Socket } from 'node:dgram';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TxtRecords } from '../../../../../gateway/mail/inbound/reader/dns.ts';
import { hurryTime } from '../../../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

/** Takes each question and answers none. */
let server: Socket;
beforeEach(async () => {
  server = createSocket('udp4');
  await new Promise<void>((resolve) => {
    server.bind(0, '127.0.0.1', resolve);
  });
});
afterEach(
  () =>
    new Promise<void>((resolve) => {
      server.close(resolve);
    }),
);

/** How long one mail waits for a name that nobody asked for before. */
async function wait(records: TxtRecords, name: string): Promise<number> {
  const startedAt = performance.now();
  const { resolver, end } = records.forOneMail();
  await expect(resolver(name, 'TXT')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  end();
  return performance.now() - startedAt;
}

describe('names that nobody answers for', () => {
  it('hold up a mail for a while, and those behind it for ever less', async () => {
    const patience = { tryMs: 60_000, mailMs: 2000 };
    const records = new TxtRecords([`127.0.0.1:${server.address().port}`], patience);
    const waits: number[] = [];
    for (let nth = 0; nth < 5; nth += 1) waits.push(await wait(records, `k${nth}.example`));
    expect(waits[0]).toBeGreaterThanOrEqual(1990);
    expect(waits[4]).toBeLessThan(1990);
  });
});
