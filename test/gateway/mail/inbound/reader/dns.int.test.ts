import { createSocket, type Socket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TxtRecords } from '../../../../../gateway/mail/inbound/reader/dns.ts';

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

describe('names that nobody answers for', () => {
  it('hold up a mail for a while, and those behind it for ever less', async () => {
    let now = 0;
    const waits: number[] = [];
    const time = {
      now: () => now,
      sleep: async (ms: number) => {
        waits.push(ms);
        now += ms;
      },
    };
    const patience = { tryMs: 60_000, mailMs: 2000 };
    const records = new TxtRecords([`127.0.0.1:${server.address().port}`], patience, time);
    const wait = async (name: string): Promise<void> => {
      const { resolver, end } = records.forOneMail();
      await expect(resolver(name, 'TXT')).rejects.toMatchObject({ code: 'ETIMEOUT' });
      end();
    };
    for (let nth = 0; nth < 5; nth += 1) await wait(`k${nth}.example`);
    expect(waits).toEqual([2000, 1000, 2000 / 3, 500, 400]);
    // Those of long ago don't count.
    now += 120_000;
    await wait('later.example');
    expect(waits.at(-1)).toBe(2000);
  });
});
