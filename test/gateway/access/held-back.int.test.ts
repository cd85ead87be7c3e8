import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostedGateway, type HostedProject } from '../../helpers/hosted.ts';
import type { Key } from './stage.ts';

let gateway: HostedGateway;
let project: HostedProject;

beforeAll(async () => {
  gateway = await HostedGateway.start('');
  project = await gateway.project('a');
});
afterAll(() => gateway.stop());

async function call<T>(key: string, path: string, body: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(gateway.url + path, init);
  expect(response.status).toBe(201);
  return (await response.json()) as T;
}

const newKey = () =>
  call<Key>(project.apiKey, '/v1/keys', { name: 'leaked', scopes: ['admin', 'disk'] });

/** Sends a call whose body lacks its last byte; returns a function that sends this, for the status. */
async function heldBack(key: string, path: string, body: unknown): Promise<() => Promise<string>> {
  const socket = connect(gateway.port, '127.0.0.1');
  await once(socket, 'connect');
  const json = JSON.stringify(body);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Connection: close',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${json.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${json.slice(0, -1)}`);
  // Its key was checked by the time that its body is read.
  await expect.poll(() => gateway.admission.bodyBytes('api')).toBeGreaterThan(0);
  return async () => {
    socket.write(json.slice(-1));
    return (await text(socket)).slice(9, 12);
  };
}

it.each([
  ['/v1/keys', { name: 'x', scopes: ['disk'] }],
  ['/v1/kv-incr', { key: 'n' }],
])(
  'a call whose body is held back until its secret was replaced changes nothing (%s)',
  async (path, body) => {
    const { id, api_key: old } = await newKey();
    const finish = await heldBack(old, path, body);
    await call(project.apiKey, `/v1/keys/${id}/rotate`, { end_made: true });
    expect(await finish()).toBe('401');
  },
);

it('makes no key either where the old secret still works for a minute', async () => {
  const { id, api_key: old } = await newKey();
  const finish = await heldBack(old, '/v1/keys', { name: 'x', scopes: ['disk'] });
  await call(old, `/v1/keys/${id}/rotate`, {});
  expect(await finish()).toBe('401');
});

it('goes on with other work meanwhile', async () => {
  const { id, api_key: old } = await newKey();
  const finish = await heldBack(old, '/v1/kv-incr', { key: 'n' });
  await call(old, `/v1/keys/${id}/rotate`, {});
  expect(await finish()).toBe('200');
});
