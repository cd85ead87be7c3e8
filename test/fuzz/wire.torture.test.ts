import { connect } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FuzzedGateway } from './fuzzed-gateway.ts';
import { mutated } from './hostile.ts';
import { fuzz, unmet, HUNG_MS } from './runs.ts';

/** Half a request that has no answer by then won't get one. */
const PATIENCE_MS = 400;
/** For requests that are whole: an answer comes, and with it the end. */
const LONG_PATIENCE_MS = 60_000;

let gateway: FuzzedGateway;
let hook: string;
beforeAll(async () => {
  gateway = await FuzzedGateway.start();
  const source = { type: 'webhook', name: 'open' };
  const { url } = await gateway.call<{ url: string }>('POST', '/v1/sources', source);
  hook = new URL(url).pathname;
});
afterAll(() => gateway.stop());

/** Sends these bytes and nothing more; returns everything received until the other side closed. */
function exchanged(bytes: Uint8Array, timeoutMs = PATIENCE_MS): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.end(bytes);
  });
}

const requests = (): Buffer[] => {
  const host = `Host: ${new URL(gateway.url).host}`;
  const key = `Authorization: Bearer ${gateway.apiKey}`;
  const json = 'Content-Type: application/json';
  return [
    `GET /v1/whoami HTTP/1.1\r\n${host}\r\n${key}\r\n\r\n`,
    `PUT /v1/kv/a%2Fb?ttl_seconds=60 HTTP/1.1\r\n${host}\r\n${key}\r\n${json}\r\nContent-Length: 7\r\n\r\n{"a":1}`,
    `POST ${hook} HTTP/1.1\r\n${host}\r\n${json}\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n`,
    `POST ${hook} HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /`,
    `GET http://other.example/v1/whoami HTTP/1.1\r\n${host}\r\n${key}\r\n\r\n`,
    `OPTIONS * HTTP/1.1\r\n${host}\r\n\r\n`,
    `CONNECT other.example:443 HTTP/1.1\r\n${host}\r\n\r\n`,
    `GET /v1/replica/changes HTTP/1.1\r\n${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
    `TRACE / HTTP/1.1\r\n${host}\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\u0016\u0003\u0001\u0000\u00a5\u0001\u0000',
  ].map((text) => Buffer.from(text, 'latin1'));
};

const TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '%',
  '/../',
  '//',
  '?',
  '#',
  '\xff',
  'Host: a b\r\n',
  'Host: %zz\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Expect: 100-continue\r\n',
  'Connection: keep-alive, x\r\n',
  'HTTP/0.9',
  'HTTP/1.0',
  'ffffffffffffffff\r\n',
];

function faultsOf(answer: string): string[] {
  const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) =>
    Number(status),
  );
  return unmet({
    [`it is no fault of ours: ${answer.slice(0, 500)}`]: statuses.every((status) => status < 500),
    'no line of code is shown': !/\n {4}at |node_modules|\.ts:\d/.test(answer),
    'it is of HTTP, or nothing': answer === '' || answer.startsWith('HTTP/1.1 '),
  });
}

describe('what is no request', () => {
  it(
    'is refused or dropped, and others are served',
    async () => {
      const bytes = fc
        .nat(requests().length - 1)
        .chain((index) => mutated(requests()[index] ?? Buffer.alloc(0), TOKENS));
      const fault = await fuzz(bytes, 120, async (sent) => {
        const faults = faultsOf(await exchanged(sent));
        const after = await gateway.send({ method: 'GET', target: '/v1/whoami' });
        return [...faults, ...unmet({ 'others are served': after.status === 200 })];
      });
      expect(fault).toBeNull();
      expect(gateway.isAlive).toBe(true);
    },
    HUNG_MS,
  );

  it('is refused as it stands, too', async () => {
    const answers = await Promise.all(
      requests().map((bytes) => exchanged(bytes, LONG_PATIENCE_MS)),
    );
    expect(answers.flatMap(faultsOf)).toEqual([]);
    expect(answers[0]).toMatch(/^HTTP\/1\.1 200 /);
  });
});
