import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ClientDocuments } from '../../../../gateway/auth/oauth/client-documents.ts';
import { Clients } from '../../../../gateway/auth/oauth/clients.ts';
import { isRegistered } from '../../../../gateway/auth/oauth/redirect-uri.ts';
import { resourceOf } from '../../../../gateway/auth/oauth/resource.ts';
import { CallbackAllow } from '../../../../gateway/callbacks/callback-allow.ts';
import { createVault } from '../../../../gateway/lib/vault.ts';
import { selfSigned } from '../../../helpers/certificate.ts';
import { FakeClock } from '../../../helpers/gateway.ts';
import { HOSTILE_ANSWERS, HOSTILE_URLS, resolved, urlOf } from '../../callbacks/hostile.ts';

const HOST = 'app.example.com';
const certificate = selfSigned(HOST);
const vault = createVault(Buffer.alloc(32, 7));
const clock = new FakeClock();

let server: Server;
let asked: string[] = [];
let answer: (response: ServerResponse) => void;
let id = '';
let clients: Clients;

beforeAll(async () => {
  server = createServer(certificate, (request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  id = `https://${HOST}:${(server.address() as AddressInfo).port}/oauth/client.json`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  answer = (response) => json(response, document());
  const documents = new ClientDocuments(clock, {
    allow: CallbackAllow.parse('127.0.0.0/8'),
    resolve: () => Promise.resolve(resolved('127.0.0.1')),
    ca: certificate.cert,
  });
  clients = new Clients(vault, documents);
});

function document(): Record<string, unknown> {
  return {
    client_id: id,
    client_name: ' Trip\nPlanner ',
    redirect_uris: ['https://app.example.com/back', 'app://back', 'http://127.0.0.1/back'],
    token_endpoint_auth_method: 'none',
    logo_uri: 'https://app.example.com/logo.png',
  };
}

function json(response: ServerResponse, value: unknown, type = 'application/json'): void {
  response.writeHead(200, { 'content-type': type }).end(JSON.stringify(value));
}

describe('a client’s metadata document', () => {
  it('says its name and where codes may go, and is kept for ten minutes', async () => {
    expect(await clients.find(id, 'ana')).toEqual({
      id,
      name: 'Trip Planner',
      redirectUris: ['https://app.example.com/back', 'http://127.0.0.1/back'],
      host: new URL(id).host,
    });
    await clients.find(id, 'ana');
    expect(asked).toEqual(['/oauth/client.json']);
    clock.advance(600_000);
    await clients.find(id, 'ana');
    expect(asked).toHaveLength(2);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['of another client', (r) => json(r, { ...document(), client_id: `${id}x` })],
    ['with a secret', (r) => json(r, { ...document(), client_secret: 'x' })],
    [
      'of a client that has a secret elsewhere',
      (r) => json(r, { ...document(), token_endpoint_auth_method: 'client_secret_basic' }),
    ],
    ['without addresses', (r) => json(r, { client_id: id })],
    ['that is a page', (r) => json(r, document(), 'text/html')],
    ['that is not JSON', (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    ['that is elsewhere', (r) => r.writeHead(302, { location: `${id}?again` }).end()],
    ['that is missing', (r) => r.writeHead(404, { 'content-type': 'application/json' }).end('{}')],
    ['that is large', (r) => json(r, { ...document(), filler: 'x'.repeat(20_000) })],
    ['that is cut off', (r) => r.destroy()],
  ])('is nothing: one %s', async (_what, respond) => {
    answer = respond;
    expect(await clients.find(id, 'ana')).toBeNull();
    expect(asked).toEqual(['/oauth/client.json']);
    answer = (response) => json(response, document());
    expect(await clients.find(id, 'ana')).toMatchObject({ id });
  });

  it.each([
    '',
    'junk',
    `https://${HOST}/`,
    `https://${HOST}`,
    `https://${HOST}/a/../b`,
    'svc.e30.',
  ])('is never asked for at %j', async (text) => {
    expect(await clients.find(text, 'ana')).toBeNull();
    expect(asked).toEqual([]);
  });

  it('is read once at a time for a person, so that nobody takes the places of others', async () => {
    const held: ServerResponse[] = [];
    answer = (response) => held.push(response);
    const first = clients.find(id, 'mallory');
    await expect(clients.find(`${id}?2`, 'mallory')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect.poll(() => held.length).toBe(1);
    answer = (response) => json(response, document());
    expect(await clients.find(id, 'ana')).toMatchObject({ id });
    for (const response of held) json(response, document());
    expect(await first).toMatchObject({ id });
    expect(await clients.find(`${id}?2`, 'mallory')).toBeNull();
  });

  it('is refused at once when too many people wait for theirs', async () => {
    const held: ServerResponse[] = [];
    answer = (response) => held.push(response);
    const waiting = Array.from({ length: 24 }, (_, n) => clients.find(id, `person${n}`));
    await expect(clients.find(id, 'ana')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      details: { retry_after: 5 },
    });
    await expect.poll(() => held.length).toBe(8);
    answer = (response) => json(response, document());
    for (const response of held) json(response, document());
    expect(await Promise.all(waiting)).not.toContain(null);
    expect(await clients.find(id, 'ana')).toMatchObject({ id });
  });

  it('is read at public addresses only', async () => {
    for (const [host, addresses] of HOSTILE_ANSWERS) {
      const resolve = () => Promise.resolve(resolved(...addresses));
      const documents = new ClientDocuments(clock, { allow: CallbackAllow.none, resolve });
      expect([host, await documents.get(`${urlOf(host)}client.json`, 'ana')]).toEqual([host, null]);
    }
    const documents = new ClientDocuments(clock, { allow: CallbackAllow.none });
    for (const [, urls] of HOSTILE_URLS) {
      for (const url of urls) expect([url, await documents.get(url, 'ana')]).toEqual([url, null]);
    }
    expect(asked).toEqual([]);
  });
});

describe('a registration', () => {
  it('is in the client id, which nobody else can make', async () => {
    const { client_id: own } = clients.register(
      '{"client_name":"Editor","redirect_uris":["http://localhost/back"]}',
    );
    expect(await clients.find(String(own), 'ana')).toMatchObject({
      name: 'Editor',
      redirectUris: ['http://localhost/back'],
      host: null,
    });
    const [prefix, , signature] = String(own).split('.');
    const body = Buffer.from('["Editor","https://evil.example/"]').toString('base64url');
    expect(await clients.find(`${prefix}.${body}.${signature}`, 'ana')).toBeNull();
    const other = new Clients(
      createVault(Buffer.alloc(32, 8)),
      new ClientDocuments(clock, {
        allow: CallbackAllow.none,
      }),
    );
    expect(await other.find(String(own), 'ana')).toBeNull();
  });
});

describe('a redirect URI', () => {
  it.each([
    ['https://a.example/back', 'https://a.example/back', true],
    ['https://a.example/back', 'https://a.example/back/', false],
    ['https://a.example/back', 'https://a.example/back?x=1', false],
    ['https://a.example/back', 'https://a.example:8443/back', false],
    ['https://a.example/back', 'https://a.example/back#x', false],
    ['https://a.example/back', 'https://A.example/back', false],
    ['http://127.0.0.1/back', 'http://127.0.0.1:5000/back', true],
    ['http://127.0.0.1:1/back?x=1', 'http://127.0.0.1:2/back?x=1', true],
    ['http://[::1]/back', 'http://[::1]:5000/back', true],
    ['http://localhost:1/', 'http://localhost:2/', true],
    ['http://127.0.0.1/back', 'http://127.0.0.1:5000/other', false],
    ['http://127.0.0.1/back', 'http://127.0.0.1.evil.example/back', false],
    ['http://127.0.0.1/back', 'http://127.0.0.1:5000@evil.example/back', false],
    ['http://127.0.0.1/back', 'http://127.0.0.1:5000\\@evil.example/back', false],
    ['http://a.example/back', 'http://a.example/back', false],
    ['javascript:alert(1)', 'javascript:alert(1)', false],
  ])('%s lets %s: %j', (registered, given, may) => {
    expect(isRegistered([registered], given)).toBe(may);
  });
});

describe('a resource', () => {
  const MCP = 'https://svc.example.com/mcp';

  it.each([
    [MCP, MCP],
    [`${MCP}/`, MCP],
    ['HTTPS://SVC.example.com:443/mcp', MCP],
    [`${MCP}/readonly`, `${MCP}/readonly`],
    [`${MCP}?tools=inbox`, `${MCP}?tools=inbox`],
    ['https://svc.example.com/', null],
    ['https://svc.example.com/v1', null],
    ['https://svc.example.com/mcpx', null],
    [`${MCP}?other=1`, null],
    [`${MCP}#x`, null],
    ['http://svc.example.com/mcp', null],
    ['https://x@svc.example.com/mcp', null],
    ['https://other.example.com/mcp', null],
    ['junk', null],
  ])('%s is %s', (text, url) => {
    expect(resourceOf(text, MCP)?.url ?? null).toBe(url);
  });
});
