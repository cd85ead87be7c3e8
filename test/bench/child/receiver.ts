import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCalls } from './rpc.ts';

/** What came so far; times in milliseconds. */
export interface Received {
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

let count = 0;
let firstAt = 0;
let lastAt = 0;

/** A receiver of callbacks that takes everything at once. */
async function listen(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      count += 1;
      lastAt = performance.now();
      if (count === 1) firstAt = lastAt;
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A receiver that takes connections and never answers. */
async function listenDead(): Promise<string> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function received(): Received {
  return { count, firstAt, lastAt };
}

answerCalls({ listen, listenDead, received });
