import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { HttpServer } from '../../../shared/http/http-server.ts';
import { connected, inNextTurn } from '../../../shared/lib/next-turn.ts';

const CONNECTIONS = 300;
/** As many connections may come before work goes on. */
const IN_A_ROW = 64;

it('who connects after three hundred others has not waited for a piece of work for each of them', async () => {
  const server = await HttpServer.listen({ host: '127.0.0.1', port: 0 }, () => (_, response) => {
    response.end('here');
  });
  let worked = 0;
  let isOver = false;
  const work = (): void => {
    worked += 1;
    if (!isOver) inNextTurn(work);
  };
  inNextTurn(work);
  const open = () => connect(server.port, '127.0.0.1');
  const [first, others, last] = [open(), Array.from({ length: CONNECTIONS }, open), open()];
  last.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(first, 'connect');
  const before = worked;
  const [answer] = (await once(last, 'data')) as [Buffer];
  isOver = true;
  expect(answer.toString()).toMatch(/here/);
  expect(worked - before).toBeLessThan(CONNECTIONS / 4);
  for (const socket of [first, ...others, last]) socket.destroy();
  await server.close(0);
});

it('work goes on although connections never stop coming', async () => {
  const done: true[] = [];
  inNextTurn(() => done.push(true));
  let turns = 0;
  for (; done.length === 0; turns += 1) {
    connected();
    await turn();
  }
  expect(turns).toBeLessThanOrEqual(2 * IN_A_ROW);
});
