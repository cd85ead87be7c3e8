import { createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/engine/driver.ts';
import { RemoteAuthority } from '../../shared/store/remote/authority.ts';
import { openAfresh, openClient } from '../../shared/store/remote/client.ts';
import { mirroring } from '../../shared/store/remote/mirror.ts';
import { answersAfresh } from '../../shared/store/remote/fetch.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { makeItems } from '../helpers/database.ts';
import { FaultyLine, type Fault } from '../helpers/faulty-line.ts';
import { temporaryFolder } from '../helpers/gateway.ts';
import { RemoteDatabase } from '../helpers/remote-database.ts';

const nothing = (): void => undefined;
const put = (name: string) => (tx: WriteTx) =>
  tx.put('INSERT INTO item (name, value) VALUES (?, 1)', [name]);
const names = async (tx: Tx): Promise<unknown[]> =>
  (await tx.all('SELECT name FROM item ORDER BY name')).map(({ name }) => name);

/** A database on a server, and a gateway's writer behind a line to it. */
async function start(): Promise<{
  remote: RemoteDatabase;
  line: FaultyLine;
  writer: EmbeddedWriter;
}> {
  const remote = await RemoteDatabase.start();
  const line = await FaultyLine.to(remote.server.url);
  const folder = temporaryFolder();
  const { pathname } = new URL(remote.location.url);
  const location = { ...remote.location, url: line.url + pathname };
  const authority = new RemoteAuthority(openClient(location), { afresh: openAfresh(location) });
  const mirror = mirroring({
    authority,
    onForeign: nothing,
    onUndone: nothing,
    onUncertain: nothing,
    onOutdated: nothing,
  });
  const writer = new EmbeddedWriter(
    `${folder.path}/mirror.db`,
    { onFatal: nothing, ...mirror },
    makeItems,
  );
  await writer.resume();
  onTestFinished(async () => {
    await writer.close();
    await line.close();
    await remote.remove();
    folder.remove();
  });
  return { remote, line, writer };
}

it.each<[string, Fault]>([
  ['on a line that lost it', 'silent'],
  ['whose answer the line lost', 'mute'],
  ['whose answer stopped after its head', 'head'],
])(
  'a write %s is done, once, over another connection when the line is back',
  async (_what, fault) => {
    const { remote, line, writer } = await start();
    await writer.write(put('before'));
    await line.be(fault);
    const before = line.lost.length;
    const writing = writer.write(put('a'));
    await expect.poll(() => line.lost.length, { timeout: 60_000 }).toBeGreaterThan(before);
    await line.be('open');
    await writing;
    await writer.write(put('b'));
    expect(await remote.reader().read(names)).toEqual(['a', 'b', 'before']);
    expect(writer.replication.position).toBe(3);
  },
);

it('a question for the newest position is answered over another connection', async () => {
  const { remote, line, writer } = await start();
  await writer.write(put('a'));
  const other = await remote.writer();
  await other.write(put('b'));
  await line.be('silent');
  const catchingUp = writer.catchUp();
  await expect.poll(() => line.lost.length, { timeout: 60_000 }).toBeGreaterThan(0);
  await line.be('open');
  await catchingUp;
  expect(writer.replication.position).toBe(2);
});

it('a server is there again although the first connection to it stays silent', async () => {
  let open = 0;
  const server = createServer((socket) => {
    open += 1;
    socket.on('error', nothing).on('close', () => (open -= 1));
    // Only to who asks again beside a connection that stays silent.
    if (open > 1) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await expect.poll(() => answersAfresh(`http://127.0.0.1:${port}/`)).toBe(true);
  server.close();
});
