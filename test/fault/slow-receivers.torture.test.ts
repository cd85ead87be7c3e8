import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOOPBACK, Receiver, until } from '../gateway/callbacks/callback-receiver.ts';
import { Routes } from '../shared/operations/route/routes.ts';
import { TestGateway } from '../helpers/gateway.ts';

const EVENTS = 100;
const STUCK = 30;
const TURNS = 6;

/** One gateway with a receiver that is well. */
interface Side {
  readonly gateway: TestGateway;
  readonly healthy: Receiver;
  readonly routes: Routes;
}

const sides: Side[] = [];
const ends: (() => void)[] = [];
beforeAll(async () => {
  for (let n = 0; n < 2; n += 1) {
    const gateway = await TestGateway.start({ callbackAllow: LOOPBACK });
    const side = { gateway, healthy: await Receiver.start(), routes: new Routes(gateway) };
    await side.routes.add(side.healthy.url(), { match_source: 'well' });
    sides.push(side);
  }
});
afterAll(async () => {
  for (const { gateway } of sides) await gateway.stop();
  for (const end of ends) end();
  for (const { healthy } of sides) await healthy.stop();
});

/** A receiver that does this with each connection. Answers its address. */
async function badReceiver(treat: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    treat(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Says these bytes to whatever comes, and this again and again. */
function saying(first: string, more: string, everyMs: number): (socket: Socket) => void {
  return (socket) => {
    socket.resume().write(first);
    const timer = setInterval(() => socket.write(more), everyMs);
    socket.once('close', () => clearInterval(timer));
  };
}

const silent = (socket: Socket): void => void socket.resume();
const deaf = (socket: Socket): void => void socket.pause();

/** Until the healthy receiver has all events. */
async function pushed({ healthy, routes }: Side): Promise<void> {
  const before = healthy.got.length;
  await Promise.all(Array.from({ length: EVENTS }, () => routes.event({ source: 'well' })));
  await healthy.came(before + EVENTS, 60_000);
}

describe('receivers that never come to an end', () => {
  it('cost the others next to nothing', async () => {
    const [troubled] = sides as [Side];
    const { routes } = troubled;
    const head = 'HTTP/1.1 200 OK\r\n';
    const manners = {
      silent,
      deaf,
      // A byte at a time, within its headers and within its body.
      headers: saying(`${head}x-a: `, 'x', 200),
      body: saying(`${head}Content-Length: 100000\r\n\r\n`, 'x', 200),
      endless: saying(
        `${head}Transfer-Encoding: chunked\r\n\r\n`,
        `400\r\n${'x'.repeat(1024)}\r\n`,
        50,
      ),
    };
    for (const [source, treat] of Object.entries(manners)) {
      await routes.add(await badReceiver(treat), { match_source: source });
      await Promise.all(Array.from({ length: STUCK }, () => routes.event({ source })));
    }
    const listed = await until(
      () => routes.list(),
      (all) => all.filter(({ pending }) => pending > 0).length === Object.keys(manners).length,
    );
    expect(listed).toHaveLength(Object.keys(manners).length + 1);
    for (let turn = 0; turn < TURNS; turn += 1) for (const side of sides) await pushed(side);
    // All that while nothing has become of them: a push that waited for one would wait for its deadline of 15 s.
    const stuck = (await routes.list()).filter(({ pending }) => pending > 0);
    expect(stuck.length).toBeGreaterThanOrEqual(3);
  });
});
