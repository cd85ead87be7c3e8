import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TRANSFER_MONTH_MAX_BYTES } from '../../../../shared/lib/limits.ts';
import { ProjectReader } from '../../../../shared/store/project-store.ts';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';

const MIB = 1024 * 1024;
const MONTH = '2026-01';
let clock: FakeClock;
let gateway: TestGateway;
let disk: TestDisk;
beforeEach(async () => {
  clock = new FakeClock();
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
});
afterEach(async () => {
  vi.useRealTimers();
  await gateway.stop();
});

async function linkTo(bytes: Uint8Array): Promise<string> {
  return disk.addLink('a.bin', await disk.addFile('a.bin', bytes));
}

/** What was sent in the month of the clock. */
const transferred = async (): Promise<number> => {
  const { body } = await gateway.call<{ transfer: { used_bytes: number } }>('GET', '/v1/usage');
  return body.transfer.used_bytes;
};
/** What the rows count: at least as much, whatever happens to the process. */
const reserved = (month = MONTH) => disk.read((store) => store.disk.transferred(month));
/** Leaves room for so many bytes this month. */
const leave = (bytes: number) =>
  disk.write((store) => store.disk.addTransfer(MONTH, TRANSFER_MONTH_MAX_BYTES - bytes));

/** What is not spent does not go back to the rows meanwhile, however long a test takes. */
const keepReserved = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

/** Takes at least so many bytes of a body, then leaves. */
function takeSome(url: string, bytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = get(url, { agent: false }, (answer) => {
      let taken = 0;
      answer.on('data', (chunk: Buffer) => {
        taken += chunk.length;
        if (taken < bytes) return;
        call.destroy();
        resolve(taken);
      });
      answer.on('error', () => undefined);
    }).on('error', reject);
  });
}

describe('what links send in a month', () => {
  it('is counted by what is asked for', async () => {
    const url = await linkTo(randomBytes(1000));
    await (await fetch(url)).arrayBuffer();
    expect(await transferred()).toBe(1000);
    await (await fetch(url, { headers: { range: 'bytes=0-99' } })).arrayBuffer();
    expect(await transferred()).toBe(1100);
    await fetch(url, { method: 'HEAD' });
    await (await fetch(url, { headers: { range: 'bytes=1000-' } })).arrayBuffer();
    expect(await transferred()).toBe(1100);
  });

  it('ends at its limit, to the byte', async () => {
    await leave(1000);
    const url = await linkTo(randomBytes(1001));
    const refused = await fetch(url);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      error: {
        code: 'QUOTA_EXCEEDED',
        details: {
          kind: 'transfer',
          limit: TRANSFER_MONTH_MAX_BYTES,
          used: TRANSFER_MONTH_MAX_BYTES - 1000,
        },
      },
    });
    const part = await fetch(url, { headers: { range: 'bytes=0-999' } });
    expect(part.status).toBe(206);
    await part.arrayBuffer();
    expect((await fetch(url, { headers: { range: 'bytes=0-0' } })).status).toBe(409);
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    expect(await transferred()).toBe(TRANSFER_MONTH_MAX_BYTES);
  });

  it('begins anew with the month, in UTC', async () => {
    await leave(0);
    clock.advance(Date.UTC(2026, 1, 1) - 1 - clock.now());
    const url = await linkTo(randomBytes(1000));
    expect((await fetch(url)).status).toBe(409);
    clock.advance(1);
    expect((await fetch(url)).status).toBe(200);
    expect(await transferred()).toBe(1000);
    expect(await reserved()).toBe(TRANSFER_MONTH_MAX_BYTES);
  });

  it('is exact under 20 downloads at once', async () => {
    const url = await linkTo(randomBytes(100_000));
    await leave(7 * 100_000 + 99_999);
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const response = await fetch(url);
        return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
      }),
    );
    const sent = answers.filter(({ status }) => status === 200);
    expect(sent).toEqual(Array.from({ length: 7 }, () => ({ status: 200, bytes: 100_000 })));
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(13);
    expect(await transferred()).toBe(TRANSFER_MONTH_MAX_BYTES - 99_999);
  });
});

describe('what is reserved for downloads to come', () => {
  it('counts as sent in the rows, and goes back to them after a moment', async () => {
    const url = await linkTo(randomBytes(1000));
    await (await fetch(url)).arrayBuffer();
    // What a crash at this point would leave.
    expect(await reserved()).toBeGreaterThan(1000);
    expect(await transferred()).toBe(1000);
    await expect.poll(() => reserved()).toBe(1000);
    expect(await transferred()).toBe(1000);
  });

  it('goes back when the gateway closes', async () => {
    await (await fetch(await linkTo(randomBytes(1000)))).arrayBuffer();
    const { folder, projectId } = gateway;
    await gateway.stop({ keepFolder: true });
    const path = join(folder, 'projects', projectId, 'project.db');
    const reader = await ProjectReader.open({ kind: 'file', path }, projectId);
    expect(await reader.read((store) => store.disk.transferred(MONTH))).toBe(1000);
    await reader.close();
    gateway = await TestGateway.start({ clock, folder });
  });

  it('is never more than the month has room for, and is there for whoever needs all of it', async () => {
    await leave(3000);
    const url = await linkTo(randomBytes(1000));
    keepReserved();
    for (const left of [2000, 1000, 0]) {
      expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(1000);
      expect(await reserved()).toBe(TRANSFER_MONTH_MAX_BYTES);
      expect(await transferred()).toBe(TRANSFER_MONTH_MAX_BYTES - left);
    }
    const refused = await fetch(url);
    expect(await refused.json()).toMatchObject({
      error: { code: 'QUOTA_EXCEEDED', details: { used: TRANSFER_MONTH_MAX_BYTES } },
    });
  });

  it('is given to the next when a download breaks off', async () => {
    const sizeBytes = 64 * MIB;
    const url = await linkTo(Buffer.alloc(sizeBytes));
    await leave(sizeBytes);
    await takeSome(url, MIB);
    const range = { range: `bytes=0-${sizeBytes / 2 - 1}` };
    await expect.poll(async () => (await fetch(url, { headers: range })).status).toBe(206);
  });

  it('belongs to its month', async () => {
    clock.advance(Date.UTC(2026, 1, 1) - 1 - clock.now());
    const url = await linkTo(Buffer.alloc(64 * MIB));
    const taken = await takeSome(url, MIB);
    clock.advance(1);
    await (await fetch(url, { headers: { range: 'bytes=0-999' } })).arrayBuffer();
    expect(await transferred()).toBe(1000);
    await expect.poll(() => reserved()).toBeLessThan(32 * MIB);
    expect(await reserved()).toBeGreaterThanOrEqual(taken);
  });
});

describe('a client that leaves', () => {
  it('is not charged for what was not sent', async () => {
    const sizeBytes = 64 * MIB;
    const url = await linkTo(Buffer.alloc(sizeBytes));
    keepReserved();
    const taken = await takeSome(url, MIB);
    await expect.poll(() => transferred()).toBeLessThan(sizeBytes / 2);
    // What the machine holds on the way is gone as well.
    expect(await transferred()).toBeGreaterThanOrEqual(taken);
    const settled = await transferred();
    await sleep(100);
    expect(await transferred()).toBe(settled);
  });

  it('before the answer, is charged for next to nothing', async () => {
    const url = new URL(await linkTo(Buffer.alloc(8 * MIB)));
    const leavers = Array.from({ length: 10 }, async () => {
      const socket = connect(Number(url.port), url.hostname);
      await once(socket, 'connect');
      socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`, () =>
        socket.destroy(),
      );
      await once(socket, 'close');
    });
    await Promise.all(leavers);
    await sleep(200);
    await expect.poll(() => transferred()).toBeLessThan(10 * MIB);
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(8 * MIB);
  });
});
