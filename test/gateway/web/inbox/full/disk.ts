import { deflateSync } from 'node:zlib';
import type { TestGateway } from '../../../../helpers/gateway.ts';
import { as, type Agent } from './agents.ts';

const PREFERENCES = {
  language: 'pt',
  newsletter: false,
  address: { street: 'Rua das Flores 12', city: 'Porto', zip: '4050-262' },
  tags: ['regular', 'furniture'],
};

const key = (name: string): string => `/v1/kv/${encodeURIComponent(name)}`;

/** Keys, states with their versions, files of several types, and a public link. */
export async function fillDisk(gateway: TestGateway, agent: Agent): Promise<void> {
  const call = (method: string, path: string, body?: unknown) =>
    as(gateway, agent, [method, path], body);
  await call('PUT', key('customers/cus_QZ81/preferences'), PREFERENCES);
  await call('PUT', key('customers/cus_R207/preferences'), { ...PREFERENCES, language: 'en' });
  await call('PUT', key('counters/refunds-this-month'), 14);
  await call('PUT', key('deploy/current'), 'v2.40');
  await call('PUT', `${key('cache/exchange-rates')}?ttl_seconds=3600`, { EUR: 1, NOK: 11.74 });
  for (const [step, note] of [
    ['read', 'Read the mail and both photos.'],
    ['checked', 'The shelf is from the batch with the known fault.'],
    ['asked', 'Asked for the refund.'],
  ]) {
    await call('PUT', '/v1/state/support%2F20418', {
      state: { order: 20418, step, photos: 2 },
      note,
    });
  }
  await call('PUT', '/v1/state/nightly-report', { state: { sent_until: '2026-11-23' } });
  await put(gateway, 'support/20418/shelf.png', 'image/png', picture());
  await put(gateway, 'support/20418/notes.md', 'text/markdown', '# Order 20418\n\n- split edge\n');
  await put(gateway, 'reports/november.csv', 'text/csv', 'day,orders\n2026-11-23,41\n');
  await put(gateway, 'exports/orders.zip', 'application/zip', new Uint8Array(48_000));
  await call('POST', '/v1/file-urls', { path: 'reports/november.csv', wait_seconds: 0 });
}

async function put(
  { url, apiKey }: TestGateway,
  path: string,
  type: string,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': type };
  const at = new URL(`/v1/files/${encodeURIComponent(path)}`, url);
  const { status } = await fetch(at, { method: 'PUT', headers, body });
  if (status >= 300) throw new Error(`${path}: ${status}`);
}

const [WIDTH, HEIGHT] = [640, 400];

/** A PNG with a gradient (RFC 2083). */
function picture(): Uint8Array<ArrayBuffer> {
  const rows = Buffer.alloc(HEIGHT * (WIDTH * 3 + 1));
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const at = y * (WIDTH * 3 + 1) + 1 + x * 3;
      rows.set([150 + (x * 60) / WIDTH, 100 + (y * 50) / HEIGHT, 70], at);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH, 0);
  head.writeUInt32BE(HEIGHT, 4);
  // 8 bits a channel, RGB.
  head.set([8, 2], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND')];
  return new Uint8Array(Buffer.concat([signature, ...chunks]));
}

function chunk(type: string, data = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}
