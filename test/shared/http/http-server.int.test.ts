import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HttpServer } from '../../../shared/http/http-server.ts';

const MIB = 1024 * 1024;
const REFUSAL = 'this body is refused';
const LARGE = '*'.repeat(16 * MIB);

let server: HttpServer;
/** End the answers that are held. */
const releases: (() => void)[] = [];

beforeEach(async () => {
  releases.length = 0;
  server = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => (request, response) => {
    if (request.url === '/refuse') {
      response.writeHead(413, { Connection: 'close' });
      response.end(REFUSAL);
    } else if (request.url?.endsWith('/early')) {
      response.end('early');
    } else if (request.url === '/large') {
      response.writeHead(200, { 'Content-Length': LARGE.length });
      response.end(LARGE);
    } else {
      releases.push(() => response.end('held'));
    }
  });
});
afterEach(() => server.close(0));

describe('a request', () => {
  it.each([
    [['GET /early HTTP/1.1', 'Host: a', 'Host: b']],
    [['GET /early HTTP/1.1', 'Host: a', 'hOST: a']],
    [['POST /early HTTP/1.1', 'Host: a', 'Content-Length: 5', 'Host: b', '', 'hello']],
    [['GET http://b/early HTTP/1.1', 'Host: a']],
    [['GET http://a:81/early HTTP/1.1', 'Host: a']],
    [['GET https://a:80/early HTTP/1.1', 'Host: a']],
    [['GET http://a@b/early HTTP/1.1', 'Host: b']],
    [['GET http://a/early HTTP/1.1', 'Host:']],
  ])('that names two hosts is refused: %j', async (lines) => {
    const answer = await exchange(lines);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"VALIDATION_FAILED"');
    expect(answer).toContain('"path":"Host"');
  });

  it.each([
    [['GET /early HTTP/1.1', 'Host: a', 'Hosts: b', 'X-Host: c']],
    [['GET /early HTTP/1.1', 'Host:']],
    [['GET http://A:80/early HTTP/1.1', 'Host: a']],
    [['GET HTTPS://a/early HTTP/1.1', 'Host: a:443']],
    [['GET http://[::1]:5/early HTTP/1.1', 'Host: [::1]:5']],
  ])('that names one is answered: %j', async (lines) => {
    expect(await exchange(lines)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('with more than two hundred headers gets 431, which says so', async () => {
    // `Host` and `Connection` count.
    expect(await exchange(withHeaders(198))).toMatch(/^HTTP\/1\.1 200 /);
    for (const count of [199, 1900, 3900]) {
      const answer = await exchange(withHeaders(count));
      expect(answer).toMatch(
        /^HTTP\/1\.1 431 [^]*"path":"headers","message":"Send at most 200 of them."/,
      );
    }
  });
});

describe('what is no request that Node takes', () => {
  it.each([
    [400, 'request', 'NONSENSE\r\n\r\n'],
    [400, 'request', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [400, 'request', '\u0016\u0003\u0001 a handshake of TLS'],
    [400, 'request', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n'],
    [431, 'headers', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
    [417, 'Expect', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n'],
  ])('gets %i like other refusals, with an id: %s %#', async (status, path, sent) => {
    const socket = await open();
    socket.write(sent);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    const [json = ''] = /\{.*\}/.exec(body) ?? [];
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/^X-Request-Id: [0-9a-z]{16}$/m);
    expect(JSON.parse(json)).toMatchObject({
      error: { code: 'VALIDATION_FAILED', details: { fields: [{ path }] } },
    });
  });

  it('is cut off in the middle of an answer, which gets nothing else', async () => {
    const socket = await open();
    socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\nNONSENSE\r\n\r\n');
    expect(await text(socket)).not.toContain('VALIDATION_FAILED');
  });
});

function withHeaders(count: number): string[] {
  return ['GET /early HTTP/1.1', 'Host: a', ...Array<string>(count).fill('a:')];
}

/** What comes back for a request until the other side closes. */
async function exchange(lines: readonly string[]): Promise<string> {
  const socket = await open();
  const [line = '', ...rest] = lines;
  const parts = [line, 'Connection: close', ...rest];
  socket.end(`${parts.join('\r\n')}${rest.includes('') ? '' : '\r\n\r\n'}`);
  return text(socket);
}

/** A client that goes on sending when the other side has said all. */
async function open(): Promise<Socket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket.on('error', () => undefined);
}

/** Waits until the next request is held, and gives what ends its answer. */
function held(): Promise<() => void> {
  return vi.waitFor(
    () => {
      const release = releases.shift();
      if (!release) throw new Error('Nothing is held.');
      return release;
    },
    { timeout: 60_000, interval: 5 },
  );
}

/** Sends a body to where it is refused, a piece at a time, and answers how much of it was taken. */
async function pour(socket: Socket, bytes: number): Promise<number> {
  socket.write(`POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`);
  let sent = 0;
  while (sent < bytes && !socket.destroyed) {
    const more = await new Promise<boolean>((done) => {
      socket.write(Buffer.alloc(64 * 1024), (error) => done(!error));
    });
    if (!more) break;
    sent += 64 * 1024;
  }
  return sent;
}

describe('a body that is refused', () => {
  it('is read on for a moment, so that the answer is not lost with the connection', async () => {
    const socket = await open();
    socket.pause();
    expect(await pour(socket, 8 * MIB)).toBe(8 * MIB);
    const answer = await text(socket);
    expect(answer).toContain('HTTP/1.1 413 ');
    expect(answer).toContain(REFUSAL);
  });

  it('is not read on for ever', async () => {
    const socket = await open();
    socket.resume();
    expect(await pour(socket, 400 * MIB)).toBeLessThan(100 * MIB);
    expect(socket.destroyed).toBe(true);
  });

  it('is not waited for either', async () => {
    const socket = await open();
    socket.write('POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('HTTP/1.1 413 ');
    // Its own side is still open: it is the server whose patience ends, and who resets what is sent then.
    await expect
      .poll(() => socket.destroyed || (socket.write('x'), false), {
        timeout: 60_000,
        interval: 100,
      })
      .toBe(true);
  });
});

describe('a connection on which a body came late', () => {
  it('serves the next request, whole', async () => {
    const socket = await open();
    let answers = '';
    socket.on('data', (bytes: Buffer) => {
      answers += bytes.toString('latin1');
    });
    socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n12');
    await expect.poll(() => answers).toContain('early');
    socket.write('34GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    // More than the kernel takes at once, and a client that is in no hurry.
    socket.pause();
    await sleep(200);
    socket.resume();
    await once(socket, 'end');
    socket.end();
    expect(answers.match(/[*]/g)?.length).toBe(LARGE.length);
  });
});

describe('a server with as many connections as it may have', () => {
  it('closes what comes beyond, and takes the next when one has gone', async () => {
    const few = await HttpServer.listen(
      { host: '127.0.0.1', port: 0 },
      () => (_, response) => response.end('served'),
      { connectionsMax: 2 },
    );
    /** Whether it is served, or closed without a word. */
    const ask = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect(few.port, '127.0.0.1').on('error', () => undefined);
        socket.once('data', () => resolve(true)).once('close', () => resolve(false));
        socket.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      });
    const idle = [connect(few.port, '127.0.0.1'), connect(few.port, '127.0.0.1')];
    for (const socket of idle) await once(socket, 'connect');
    expect(await ask()).toBe(false);
    idle[0]?.destroy();
    // The server hears of that a moment later.
    await expect.poll(ask).toBe(true);
    expect(idle[1]?.closed).toBe(false);
    idle[1]?.destroy();
    await few.close(0);
  });
});

describe('a server that ends', () => {
  it('takes no further request of a client that has one under way', async () => {
    const socket = await open();
    const answer = text(socket);
    socket.write('GET /hold HTTP/1.1\r\nHost: x\r\n\r\n');
    const release = await held();
    const closed = server.close(5000);
    release();
    await closed;
    expect(await answer).toContain('held');
  });

  it('tells a client whose connection is never idle to close it', async () => {
    const socket = await open();
    let answers = '';
    socket.on('data', (bytes: Buffer) => {
      answers += bytes.toString();
    });
    const ended = once(socket, 'end');
    socket.write('GET /hold HTTP/1.1\r\nHost: x\r\n\r\n');
    const releaseFirst = await held();
    const closed = server.close(5000);
    // Sent before it knew.
    socket.write('GET /hold HTTP/1.1\r\nHost: x\r\n\r\n');
    releaseFirst();
    const releaseSecond = await held();
    releaseSecond();
    await ended;
    socket.end();
    await closed;
    expect(answers.match(/held/g)?.length).toBeGreaterThanOrEqual(1);
    expect(answers).toMatch(/Connection: close/i);
  });
});
