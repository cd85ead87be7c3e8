import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import { CallbackSender, type PostResult } from '../../../gateway/callbacks/post.ts';
import { selfSigned, type Certificate } from '../../helpers/certificate.ts';
import { resolved } from './hostile.ts';
import { httpReceiver, rawReceiver } from './receiver.ts';

const HOST = 'hooks.example.com';

let certificate: Certificate;
let server: Server;
let port = 0;
let connections = 0;
/** The name that was asked for and the Host header of each request. */
let requests: [name: unknown, host: string | undefined][];

beforeAll(async () => {
  certificate = selfSigned(HOST);
  server = createServer(certificate, (request, response) => {
    requests.push([(request.socket as TLSSocket).servername, request.headers.host]);
    request.resume().on('end', () => response.end('thanks'));
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.close();
});

let senders: CallbackSender[] = [];
function trusting(...certificates: readonly Certificate[]): CallbackSender {
  requests = [];
  connections = 0;
  const [trusted] = certificates;
  const sender = new CallbackSender({
    allow: CallbackAllow.parse('127.0.0.0/8'),
    resolve: () => Promise.resolve(resolved('127.0.0.1')),
    ...(trusted && { ca: trusted.cert }),
  });
  senders.push(sender);
  return sender;
}
afterEach(() => {
  for (const sender of senders) sender.close();
  senders = [];
});

function post(sender: CallbackSender, host = HOST, to = port): Promise<PostResult> {
  const url = `https://${host}:${to}/hook`;
  return sender.post({ url, body: '{}', headers: {}, deadlineMs: 100_000 });
}

describe('over TLS', () => {
  it('the name of the URL is asked for, at the address that was checked', async () => {
    const sender = trusting(certificate);
    for (let turn = 0; turn < 5; turn += 1) {
      expect(await post(sender)).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect(requests).toEqual(Array.from({ length: 5 }, () => [HOST, `${HOST}:${port}`]));
    expect(connections).toBe(1);
  });

  it('a certificate that nobody vouches for is refused before anything is sent', async () => {
    expect(await post(trusting())).toMatchObject({
      kind: 'failed',
      reason: 'The certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT).',
      guard: false,
    });
    expect([connections, requests.length]).toEqual([1, 0]);
  });

  it('the environment cannot change that', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await post(trusting())).toMatchObject({ kind: 'failed' });
      expect([connections, requests.length]).toEqual([1, 0]);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  it.each(['other.example.com', '127.0.0.1'])('nor does it do for %s', async (host) => {
    expect(await post(trusting(certificate), host)).toMatchObject({
      kind: 'failed',
      reason: 'The certificate is not trusted (ERR_TLS_CERT_ALTNAME_INVALID).',
    });
    expect(requests).toEqual([]);
  });

  it('a receiver without TLS is told nothing', async () => {
    const receiver = await httpReceiver((response) => response.end());
    const result = await post(trusting(certificate), HOST, receiver.port);
    expect(result).toMatchObject({ kind: 'failed', guard: false });
    expect(result.kind === 'failed' && result.reason).toMatch(/^TLS failed/);
    expect(receiver.received).toEqual([]);
    await receiver.close();
  });

  it('a receiver that is silent from the start has the one deadline', async () => {
    const receiver = await rawReceiver(() => undefined);
    const url = `https://${HOST}:${receiver.port}/`;
    const call = { url, body: '', headers: {}, deadlineMs: 200 };
    expect(await trusting(certificate).post(call)).toMatchObject({
      kind: 'failed',
      reason: 'No answer came within 0.2 s.',
    });
    await expect.poll(() => receiver.open()).toBe(0);
    await receiver.close();
  });
});
