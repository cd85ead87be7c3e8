import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TestGateway } from '../../helpers/gateway.ts';

const json = { 'content-type': 'application/json' };

it('equal and empty bodies without an id are counted, and one with an id of its own comes in', async () => {
  let gateway = await TestGateway.start();
  const { folder } = gateway;
  const url = await gateway.addSource({ name: 'open' });
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await gateway.deliver(url, body, { ...json, ...headers });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const first = await send('{"door":"open"}');
  expect(await send('{"door":"open"}')).toEqual({ ...first, status: 'duplicate' });
  await send('');
  await send('');
  expect(await send('{"door":"open"}', { 'idempotency-key': '2' })).toMatchObject({
    status: 'accepted',
  });
  // By its id it's a true repeat, which nobody has to look at.
  expect(await send('{"door":"open"}', { 'idempotency-key': '2' })).toMatchObject({
    status: 'duplicate',
  });
  // What was counted is written at the end, at the latest.
  await gateway.stop({ keepFolder: true });
  gateway = await TestGateway.start({ folder });
  const [project] = await gateway.gateway.listProjects();
  const { apiKey } = await gateway.gateway.createAdminKey(project?.id ?? '');
  const source = await gateway.call('GET', '/v1/sources/open', { key: apiKey });
  expect(source.body).toMatchObject({ events_24h: 3, rejected_24h: 0, repeated_24h: 2 });
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});
