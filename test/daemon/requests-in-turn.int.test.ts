import { request, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Listener, type Backend } from '../../daemon/listener.ts';
import { Admission } from '../../shared/admission/admission.ts';
import { admittedOf } from '../../shared/api/http.ts';
import { temporaryFolder } from '../helpers/gateway.ts';

const PLACES = 64;
/** What a request in line counts for. */
const HEAD_BYTES = 8192;
/** More than a socket takes that nobody reads. */
const LONG = 4_000_000;

/** A daemon whose answers end when a test says so. */
class Stage {
  readonly admission = Admission.local();
  readonly reached: string[] = [];
  readonly #folder = temporaryFolder();
  readonly #ends: (() => void)[] = [];
  #listeners: Listener[] = [];
  at: RequestOptions = {};

  async open(kind: 'tcp' | 'socket'): Promise<void> {
    const backend: Backend = {
      admission: this.admission,
      control: () => false,
      fetch: async (asked, env) => {
        if (asked.headers.get('authorization') === 'Bearer known') {
          admittedOf(env).proved('api', 'prj_a');
          return new Response(asked.url.endsWith('/long') ? 'x'.repeat(LONG) : 'known');
        }
        this.reached.push(new URL(asked.url).pathname);
        await new Promise<void>((resolve) => this.#ends.push(resolve));
        return new Response('held');
      },
    };
    const path = join(this.#folder.path, 's');
    const tcp = await Listener.onLoopback(0, backend);
    this.#listeners = [tcp, await Listener.onSocket(path, backend)];
    this.at = kind === 'tcp' ? { host: '127.0.0.1', port: tcp.port } : { socketPath: path };
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close(0)));
    this.#folder.remove();
  }

  /** Sends as many requests at once, and reads no answer. */
  sendUnread(path: string, times: number): Socket {
    const { host, port, socketPath } = this.at;
    const socket = socketPath
      ? connect(socketPath)
      : connect({ host: String(host), port: Number(port) });
    const head = `GET ${path} HTTP/1.1\r\nHost: ${port ? `localhost:${port}` : 'localhost'}\r\nAuthorization: Bearer known\r\n\r\n`;
    const last = head.replace('\r\n', '\r\nConnection: close\r\n');
    socket
      .on('error', () => undefined)
      .setEncoding('utf8')
      .pause();
    socket.write(head.repeat(times - 1) + last);
    return socket;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request({ agent: false, ...this.at, path, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('end', () => resolve(text));
      });
      sent.on('error', reject);
      sent.end();
    });
  }
}

let stage: Stage;

beforeEach(() => {
  stage = new Stage();
});

afterEach(() => stage.close());

describe.each(['tcp', 'socket'] as const)('a daemon that somebody floods over its %s', (kind) => {
  it.each([
    ['on connections that stay open', 'keep-alive'],
    ['with a connection for each request', 'close'],
  ])(
    '%s works on as many as one caller may have, and answers who has shown a key',
    async (_, connection) => {
      await stage.open(kind);
      expect(await stage.get('/', { authorization: 'Bearer known' })).toBe('known');
      const flood = Array.from({ length: PLACES + 10 }, (__, n) =>
        stage.get(`/${n}`, { connection }),
      );
      await expect
        .poll(() => stage.admission.turns.waitingBytes > 0 && stage.reached.length > 0)
        .toBe(true);
      await expect.poll(() => stage.reached.length === PLACES).toBe(true);
      expect(stage.admission.turns.underWay).toBe(PLACES);
      expect(await stage.get('/', { authorization: 'Bearer known' })).toBe('known');
      expect(stage.reached).toHaveLength(PLACES);
      const ending = setInterval(() => stage.end(), 5);
      expect(await Promise.all(flood)).toEqual(Array(PLACES + 10).fill('held'));
      clearInterval(ending);
      expect([stage.admission.turns.underWay, stage.admission.turns.waitingBytes]).toEqual([0, 0]);
    },
  );

  it('answers others of the same project whose connections are read', async () => {
    await stage.open(kind);
    const sent = 5;
    const sockets = Array.from({ length: 10 }, () => stage.sendUnread('/long', sent));
    const behind = (sent - 1) * sockets.length;
    const { turns } = stage.admission;
    await expect.poll(() => turns.waitingBytes).toBe(behind * HEAD_BYTES);
    expect(turns.underWay).toBe(0);
    expect(await stage.get('/', { authorization: 'Bearer known' })).toBe('known');
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => turns.waitingBytes).toBe(0);
  });

  it('gives each its answer in order once they are read', async () => {
    await stage.open(kind);
    const socket = stage.sendUnread('/long', 5);
    await expect.poll(() => stage.admission.turns.waitingBytes).toBe(4 * HEAD_BYTES);
    let text = '';
    for await (const piece of socket) text += String(piece);
    expect(text.split('x'.repeat(LONG)).map((one) => one.slice(-4))).toEqual([
      ...Array(5).fill('\r\n\r\n'),
      '',
    ]);
  });

  it('lets another agent with the same key go next', async () => {
    await stage.open(kind);
    const loop = { 'x-service-agent': 'loop' };
    const flood = Array.from({ length: PLACES + 10 }, (_, n) => stage.get(`/${n}`, loop));
    await expect.poll(() => stage.admission.turns.waitingBytes).toBe(10 * HEAD_BYTES);
    const other = stage.get('/other', { 'x-service-agent': 'other' });
    await expect.poll(() => stage.admission.turns.waitingBytes).toBe(11 * HEAD_BYTES);
    const ending = setInterval(() => stage.end(), 5);
    await Promise.all([...flood, other]);
    clearInterval(ending);
    expect(stage.reached.slice(PLACES, PLACES + 2)).toContain('/other');
  });
});
