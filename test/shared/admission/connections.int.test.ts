import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Admission } from '../../../shared/admission/admission.ts';
import { Connections } from '../../../shared/admission/connections.ts';
import { answerError } from '../../../shared/http/answers.ts';
import { HttpServer } from '../../../shared/http/http-server.ts';
import { ServiceError } from '../../../shared/lib/errors.ts';

const LIMITS = { total: 8, address: 3, project: 3 };

/** Addresses on which connections arrived, and those that were let go. */
let connections: Connections;
let server: HttpServer;
let served: string[];

/** A server whose callers say which address they are, and prove their project by naming it. */
beforeEach(async () => {
  const admission = Admission.hosted();
  connections = new Connections((full, holder) => admission.refuse(full, holder), LIMITS);
  served = [];
  server = await HttpServer.listen(
    { host: '127.0.0.1', port: 0 },
    () => (request, response) => {
      const address = String(request.headers['x-from'] ?? '');
      const counted = connections.requested(request.socket, address, response);
      if (counted instanceof ServiceError) return answerError(response, counted);
      const project = request.headers['x-project'];
      if (typeof project === 'string') counted?.prove(project);
      served.push(request.url ?? '');
      if (request.url === '/begun') response.writeHead(200).write('begun');
      else if (request.url !== '/held') response.end('served');
    },
    {
      onConnection: (socket) => {
        // Peers with these addresses are clients; 127.0.0.1 is a proxy.
        const peer = socket.remoteAddress ?? '';
        connections.opened(socket, peer === '127.0.0.1' ? null : peer);
      },
    },
  );
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await server.close(0);
});

const opened: Socket[] = [];

async function open(localAddress: string): Promise<{ socket: Socket; all: Promise<string> }> {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  opened.push(socket);
  await once(socket, 'connect');
  return { socket, all: text(socket).catch(() => '') };
}

const ask = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '\r\n'].join('\r\n');

/** Asks on a connection of its own; the status of the answer. */
async function statusFrom(localAddress: string, ...headers: string[]): Promise<string> {
  const { socket, all } = await open(localAddress);
  socket.write(ask('/', 'Connection: close', ...headers));
  return (await all).slice(9, 12);
}

describe('an address with as many connections as it may have', () => {
  it('loses its oldest one without a key, so that others on it are served', async () => {
    const silent = [];
    for (let n = 0; n < 3; n += 1) silent.push(await open('127.0.0.2'));
    expect(await statusFrom('127.0.0.2')).toBe('200');
    const answer = (await silent[0]?.all) ?? '';
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).toContain('Retry-After: 1\r\n');
    expect(answer).toContain('"code":"RATE_LIMITED"');
    expect(answer).toContain('"of":"address"');
    expect(silent.slice(1).map(({ socket }) => socket.closed)).toEqual([false, false]);
  });

  it('ends an answer that has begun without a word, whatever was asked behind it', async () => {
    const { socket, all } = await open('127.0.0.2');
    socket.write(ask('/begun') + ask('/held'));
    await expect.poll(() => served).toEqual(['/begun', '/held']);
    for (let n = 0; n < 2; n += 1) await open('127.0.0.2');
    expect(await statusFrom('127.0.0.2')).toBe('200');
    expect((await all).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });

  it('loses none that was proven, and is refused', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { socket } = await open('127.0.0.2');
      socket.write(ask('/', 'X-Project: prj_a'));
      await once(socket, 'data');
    }
    expect(await statusFrom('127.0.0.2')).toBe('429');
    // What came with the refused connection was not carried out.
    expect(served).toHaveLength(3);
    expect(await statusFrom('127.0.0.3')).toBe('200');
  });

  it('has room again when one of them closes', async () => {
    const { socket } = await open('127.0.0.2');
    expect(connections.count).toBe(1);
    socket.destroy();
    await expect.poll(() => connections.count).toBe(0);
  });
});

describe('all connections together', () => {
  it('make room by the oldest one without a key, wherever it comes from', async () => {
    const silent = [];
    for (let n = 0; n < 8; n += 1) silent.push(await open(`127.0.1.${n + 1}`));
    expect(await statusFrom('127.0.0.9', 'X-Project: prj_a')).toBe('200');
    expect(await silent[0]?.all).toMatch(/^HTTP\/1\.1 503 [\s\S]*"of":"gateway"/);
    expect(silent[7]?.socket.closed).toBe(false);
  });

  it('keep those of one project from taking every place', async () => {
    for (let n = 0; n < 8; n += 1) {
      const { socket } = await open(`127.0.1.${n + 1}`);
      socket.write(ask('/', 'X-Project: prj_a'));
      await once(socket, 'data');
    }
    expect(await statusFrom('127.0.0.9', 'X-Project: prj_b')).toBe('200');
  });
});

describe('behind a trusted proxy', () => {
  it('the requests of each address count, and not the connections of the proxy', async () => {
    for (let n = 0; n < 3; n += 1) {
      const { socket } = await open('127.0.0.1');
      socket.write(ask('/held', 'X-From: 192.0.2.1', 'X-Project: prj_a'));
    }
    await expect.poll(() => served).toHaveLength(3);
    expect(await statusFrom('127.0.0.1', 'X-From: 192.0.2.1')).toBe('429');
    expect(await statusFrom('127.0.0.1', 'X-From: 192.0.2.2')).toBe('200');
  });

  it('a connection that the proxy keeps is free again after each answer', async () => {
    const { socket } = await open('127.0.0.1');
    for (let n = 0; n < 9; n += 1) {
      socket.write(ask(`/${n}`, 'X-From: 192.0.2.1', `X-Project: prj_${n}`));
      await once(socket, 'data');
    }
    expect(served).toHaveLength(9);
    expect(connections.count).toBe(1);
  });
});
