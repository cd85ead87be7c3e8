import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallbackAllow } from '../../../gateway/callbacks/callback-allow.ts';
import {
  CallbackSender,
  type PostResult,
  type SenderOptions,
} from '../../../gateway/callbacks/post.ts';
import { resolved } from './hostile.ts';
import { httpReceiver, rawReceiver, type Receiver } from './receiver.ts';

const HOST = 'receiver.example.com';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const allow = CallbackAllow.parse('127.0.0.0/30');

let receiver: Receiver;
let sender: CallbackSender;
let asked: number;
/** What the resolver says, one answer a question, the last for all that follow. */
let answers: LookupAddress[][];

function use(options: SenderOptions = {}): void {
  sender = new CallbackSender({
    allow,
    resolve: () => {
      asked += 1;
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return Promise.resolve(answer ?? []);
    },
    ...options,
  });
}

beforeEach(async () => {
  asked = 0;
  answers = [resolved('127.0.0.1')];
  receiver = await httpReceiver((response) => response.end());
  use();
});
afterEach(async () => {
  sender.close();
  await receiver.close();
});

async function instead(serve: (socket: Socket, nth: number) => void): Promise<void> {
  await receiver.close();
  let count = 0;
  receiver = await rawReceiver((socket) => serve(socket, (count += 1)));
}

function post(deadlineMs = 3000): Promise<PostResult> {
  const url = `http://${HOST}:${receiver.port}/`;
  return sender.post({ url, body: '{}', headers: {}, deadlineMs });
}

describe('a connection', () => {
  it('is made to an address that was checked, under the name of the URL, and asked for once', async () => {
    // The second answer would lead to where nobody listens.
    answers = [resolved('127.0.0.1'), resolved('127.0.0.2')];
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 });
    expect(asked).toBe(1);
    expect(receiver.sockets[0]?.localAddress).toBe('127.0.0.1');
    expect(receiver.received[0]?.headers.host).toBe(`${HOST}:${receiver.port}`);
  });

  it('tries the next address where one does not answer', async () => {
    answers = [resolved('127.0.0.2', '127.0.0.1')];
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 });
    expect(asked).toBe(1);
  });

  it('serves one post after the other', async () => {
    for (let turn = 0; turn < 20; turn += 1) expect(await post()).toMatchObject({ status: 200 });
    expect(receiver.sockets).toHaveLength(1);
    expect(asked).toBe(1);
  });

  it.each([1, 3])('is made for %i posts at a time, and no more', async (socketsPerDestination) => {
    let running = 0;
    const counts: number[] = [];
    await receiver.close();
    receiver = await httpReceiver((response) => {
      counts.push((running += 1));
      setTimeout(() => {
        running -= 1;
        response.end();
      }, 5);
    });
    use({ socketsPerDestination });
    for (let turn = 0; turn < 3; turn += 1) {
      const results = await Promise.all(Array.from({ length: 20 }, () => post()));
      expect(results.filter(({ kind }) => kind !== 'answered')).toEqual([]);
    }
    expect(Math.max(...counts)).toBe(socketsPerDestination);
    expect(receiver.sockets).toHaveLength(socketsPerDestination);
  });

  it('serves a post of another path of the same host, and none of another host', async () => {
    for (const host of [HOST, HOST, 'other.example.com']) {
      const url = `http://${host}:${receiver.port}/${asked}`;
      await sender.post({ url, body: '', headers: {} });
    }
    expect(receiver.sockets).toHaveLength(2);
    expect(receiver.received.map(({ headers }) => headers.host?.split(':')[0])).toEqual([
      HOST,
      HOST,
      'other.example.com',
    ]);
  });

  it('is closed when nobody needs it', async () => {
    use({ idleMs: 50 });
    await post();
    await expect.poll(() => receiver.open()).toBe(0);
  });

  it('that waits for an answer is not idle', async () => {
    await receiver.close();
    receiver = await httpReceiver((response) => void setTimeout(() => response.end(), 300));
    use({ idleMs: 50 });
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 });
  });
});

describe('a name that changes', () => {
  it('to a private address is refused at the next connection', async () => {
    use({ idleMs: 50 });
    answers = [resolved('127.0.0.1'), resolved('10.0.0.1')];
    expect(await post()).toMatchObject({ kind: 'answered' });
    await expect.poll(() => receiver.open()).toBe(0);
    expect(await post()).toMatchObject({ kind: 'failed', guard: true });
    expect(asked).toBe(2);
  });

  it('does not move a connection that is open', async () => {
    answers = [resolved('127.0.0.1'), resolved('10.0.0.1')];
    await post();
    expect(await post()).toMatchObject({ kind: 'answered' });
    expect(receiver.sockets).toHaveLength(1);
  });

  it('is refused with one private address among those that are allowed', async () => {
    answers = [resolved('127.0.0.1', '10.0.0.1')];
    expect(await post()).toMatchObject({ kind: 'failed', guard: true });
    expect(receiver.sockets).toHaveLength(0);
  });

  it('is resolved once for posts that begin at the same time', async () => {
    await Promise.all(Array.from({ length: 10 }, () => post()));
    expect(asked).toBe(1);
  });
});

describe('without an allow list', () => {
  it.each(['127.0.0.1', 'localhost', HOST, '[::ffff:127.0.0.1]', '2130706433'])(
    'nothing reaches %s',
    async (host) => {
      use({ allow: CallbackAllow.none });
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}:${receiver.port}/`;
        const result = await sender.post({ url, body: '', headers: {} });
        expect(result).toMatchObject({ kind: 'failed', guard: true });
      }
      expect(receiver.sockets).toHaveLength(0);
    },
  );

  it('the reason names no address', async () => {
    use({ allow: CallbackAllow.none });
    const result = await sender.post({ url: `https://${HOST}/`, body: '', headers: {} });
    expect(result).toMatchObject({ reason: 'The host has an address that is not public.' });
  });
});

describe('a kept connection that the receiver closes as the post is on its way', () => {
  it('is no failure: the post goes out once more, on a new one', async () => {
    await instead((socket, nth) => {
      socket.once('data', () => {
        socket.write(OK);
        if (nth === 1) socket.once('data', () => socket.resetAndDestroy());
      });
    });
    expect(await post()).toMatchObject({ status: 200 });
    expect(await post()).toMatchObject({ status: 200 });
    expect(receiver.sockets).toHaveLength(2);
  });

  it('goes out on none of the others that were kept', async () => {
    await instead((socket, nth) => {
      socket.once('data', () => {
        // All three are open at once.
        setTimeout(() => socket.write(OK), 50);
        if (nth <= 3) socket.once('data', () => socket.resetAndDestroy());
      });
    });
    await Promise.all([post(), post(), post()]);
    expect(receiver.open()).toBe(3);
    expect(await post()).toMatchObject({ status: 200 });
    expect(receiver.sockets).toHaveLength(4);
  });

  it('does not go out a third time', async () => {
    await instead((socket, nth) => {
      if (nth > 1) socket.resetAndDestroy();
      socket.once('data', () => {
        socket.write(OK);
        socket.once('data', () => socket.resetAndDestroy());
      });
    });
    expect(await post()).toMatchObject({ status: 200 });
    expect(await post()).toMatchObject({
      kind: 'failed',
      reason: 'The connection closed before an answer came.',
    });
    expect(receiver.sockets).toHaveLength(2);
  });

  it('has the time that is left, and asks the resolver anew', async () => {
    await instead((socket, nth) => {
      if (nth > 1) return;
      socket.once('data', () => {
        socket.write(OK);
        socket.once('data', () => void setTimeout(() => socket.resetAndDestroy(), 1000));
      });
    });
    expect(await post()).toMatchObject({ status: 200 });
    const result = await post(2000);
    expect(result).toMatchObject({ kind: 'failed', reason: 'No answer came within 2 s.' });
    expect([receiver.sockets.length, asked]).toEqual([2, 2]);
  });

  it('is a failure when it was new', async () => {
    await instead((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await post()).toMatchObject({ kind: 'failed', guard: false });
    expect(receiver.sockets).toHaveLength(1);
  });

  it('is seen in time when it is idle', async () => {
    await post();
    receiver.sockets[0]?.end();
    await expect.poll(() => receiver.open()).toBe(0);
    // The other end may hear of it a little later.
    await sleep(20);
    expect(await post()).toMatchObject({ status: 200 });
    expect(receiver.sockets).toHaveLength(2);
  });
});
