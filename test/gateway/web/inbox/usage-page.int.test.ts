import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeClock, TestGateway } from '../../../helpers/gateway.ts';
import { TestDisk } from '../../../shared/operations/disk.ts';
import { placeOf } from './places.ts';
import { WebVisitor } from './web-visitor.ts';

const MIB = 1024 * 1024;

const clock = new FakeClock();
let gateway: TestGateway;
let disk: TestDisk;
let visitor: WebVisitor;
let page: string;

beforeAll(async () => {
  gateway = await TestGateway.start({ clock });
  disk = await TestDisk.of(gateway, () => clock.now());
  visitor = await WebVisitor.withKey(gateway, await gateway.key('send'));
  page = await placeOf(gateway, 'usage');
});
afterAll(() => gateway.stop());

it('is shown with each limit, to any key', async () => {
  await gateway.call('PUT', '/v1/kv/one', { body: 'x'.repeat(100_000) });
  const { status, html } = await visitor.get(page);
  expect(status).toBe(200);
  expect(html).toContain('of 1 GiB');
  expect(html).toContain('97.6 KiB');
  expect(html).toContain('of 10\u202f000');
  expect(html).toContain('of 5 GiB');
  expect(html).toContain('00:00:00 UTC on 1 February');
  expect(html).toContain('of 50<');
  expect(html).toContain('of 1\u202f000<');
  expect(html).toContain('&lt; 1 %');
});

it.each([
  [4 * 1024 * MIB, 'class="near" width="80.00%"', '80 %'],
  [5 * 1024 * MIB - 1, 'class="near" width="100.00%"', '99 %'],
  [5 * 1024 * MIB, 'class="full" width="100.00%"', '100 %'],
])('warns near the limit, and at it: %i bytes sent', async (bytes, bar, percent) => {
  const before = await disk.read((store) => store.disk.transferred('2026-01'));
  await disk.write((store) => store.disk.addTransfer('2026-01', bytes - before));
  const { html } = await visitor.get(page);
  expect(html).toContain(bar);
  expect(html).toContain(percent);
});
