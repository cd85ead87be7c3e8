import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Tx, WriteTx } from '../../shared/store/engine/driver.ts';
import { RemoteAuthority } from '../../shared/store/remote/authority.ts';
import { openClient } from '../../shared/store/remote/client.ts';
import { mirroring } from '../../shared/store/remote/mirror.ts';
import { encodeStatements } from '../../shared/store/remote/group-log.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { makeItems } from '../helpers/database.ts';
import { hurryTime } from '../helpers/hurried-time.ts';
import { RemoteDatabase } from '../helpers/remote-database.ts';
import { folderOfTest } from './hrana-world.ts';

let remote: RemoteDatabase;
beforeEach(async () => {
  remote = await RemoteDatabase.start();
});
afterEach(() => remote.remove());

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';
const put = (name: string) => (tx: WriteTx) => tx.put(INSERT, [name, 1]);
const namesOf = async (tx: Tx): Promise<unknown[]> =>
  (await tx.all('SELECT name FROM item ORDER BY name')).map(({ name }) => name);
const UNCERTAIN = {
  code: 'UNAVAILABLE',
  hint: expect.stringContaining('It may have happened all the same.'),
};

/** What somebody else does to the server. */
async function atServer(...statements: readonly string[]): Promise<void> {
  const client = openClient(remote.location);
  await client.batch([...statements], 'write');
  client.close();
}

/** Runs once the request after the next one has come, before it's done. */
function beforeSecond(work: () => Promise<void>): void {
  const { faults } = remote.server;
  const fate = faults.fate.bind(faults);
  let requests = 0;
  faults.fate = async () => {
    requests += 1;
    if (requests === 2) {
      faults.fate = fate;
      await work();
      return faults.fate();
    }
    return fate();
  };
}

describe('a group whose answer is lost, and which nobody can find out about', () => {
  it('may have been committed if the log has lost it', async () => {
    const writer = await remote.writer();
    remote.server.faults.dropAnswers('commit', 1);
    beforeSecond(() => atServer('DELETE FROM group_log'));
    await expect(writer.write(put('a'))).rejects.toMatchObject(UNCERTAIN);
    expect(await remote.reader().read(namesOf)).toEqual(['a']);
  });

  it('may have been committed if the server then refuses the token', async () => {
    hurryTime();
    const writer = await remote.writer();
    const { faults } = remote.server;
    const fate = faults.fate.bind(faults);
    faults.dropAnswers('commit', 1);
    beforeSecond(async () => {
      faults.fate = async () => 401 as never;
    });
    await expect(writer.write(put('a'))).rejects.toMatchObject(UNCERTAIN);
    faults.fate = fate;
    expect(await remote.reader().read(namesOf)).toEqual(['a']);
    await writer.write(put('b'));
    expect(await remote.reader().read(namesOf)).toEqual(['a', 'b']);
  });
});

/** A way to the server that cuts large requests, or answers them with this status. */
async function picky(status: number | null): Promise<string> {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      if (body.length < 20_000) return forward(request.url ?? '', body, response);
      if (status === null) request.socket.destroy();
      else response.writeHead(status).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/test/`;
}

async function forward(path: string, body: Buffer, response: ServerResponse): Promise<void> {
  const url = remote.server.url + path;
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(body) });
  response.writeHead(answer.status).end(await answer.text());
}

const nothing = (): void => undefined;

async function writerAt(url: string): Promise<EmbeddedWriter> {
  const authority = new RemoteAuthority(openClient({ ...remote.location, url }));
  const told = { onForeign: nothing, onUndone: nothing, onUncertain: nothing };
  const mirror = mirroring({ authority, ...told, onOutdated: nothing });
  const path = join(folderOfTest(), 'mirror.db');
  const writer = new EmbeddedWriter(path, { onFatal: nothing, ...mirror }, makeItems);
  onTestFinished(() => writer.close());
  await writer.resume();
  return writer;
}

describe('a group that the server never takes', () => {
  it.each([
    ['because the line is cut each time', null],
    ['because it is too large for a proxy', 413],
  ])('is refused, and the next one is committed: %s', async (_why, status) => {
    hurryTime(50);
    const writer = await writerAt(await picky(status));
    const large = writer.write((tx) => tx.put(INSERT, ['large', randomBytes(30_000)]));
    await expect(large).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      hint: 'Repeat it in 5 seconds.',
    });
    await writer.write(put('small'));
    expect(await remote.reader().read(namesOf)).toEqual(['small']);
  });
});

describe('a server that was restored from a backup', () => {
  it('takes nothing from a mirror that has as many groups, but others', async () => {
    const told: string[] = [];
    const mine = await remote.writer({ onOutdated: () => told.push('outdated') });
    await mine.write(put('lost'));
    await atServer(
      'DELETE FROM item',
      'DELETE FROM group_log',
      "DELETE FROM meta WHERE name = 'last_group'",
      "UPDATE meta SET value = 0 WHERE name = 'commit_seq'",
    );
    await (await remote.writer()).write(put('new'));
    await expect(mine.write(put('mine'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(told).toEqual(['outdated']);
    expect(await remote.reader().read(namesOf)).toEqual(['new']);
  });

  it('outdates a mirror that has more groups, once it is asked', async () => {
    const told: string[] = [];
    const mine = await remote.writer({ onOutdated: () => told.push('outdated') });
    await mine.write(put('kept'));
    await mine.write(put('lost'));
    await atServer(
      "DELETE FROM item WHERE name = 'lost'",
      'DELETE FROM group_log WHERE position = 2',
      "UPDATE meta SET value = 1 WHERE name = 'commit_seq'",
    );
    await expect(mine.catchUp()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(told).toEqual(['outdated']);
  });
});

describe('a mirror that takes in much', () => {
  it('gets it in answers that the server sends', async () => {
    const client = openClient(remote.location);
    const bytes = encodeStatements([{ sql: INSERT, params: ['large', randomBytes(900_000)] }]);
    for (let n = 1; n <= 12; n += 1) {
      const follows = n > 1 ? `t${n - 1}` : null;
      const sql = 'INSERT INTO group_log VALUES (?, ?, ?, 0, ?)';
      await client.execute({ sql, args: [n, `t${n}`, follows, bytes] });
    }
    const authority = new RemoteAuthority(client);
    const tokens: string[] = [];
    while (tokens.length < 12) {
      const place = { position: tokens.length, token: tokens.at(-1) ?? null };
      const groups = (await authority.after(place)) ?? [];
      expect(groups.length).toBeGreaterThan(0);
      tokens.push(...groups.map(({ token }) => token));
    }
    authority.close();
    expect(tokens).toEqual(Array.from({ length: 12 }, (_, n) => `t${n + 1}`));
  });

  it('goes on once its disk is no longer full', async () => {
    const told: string[] = [];
    const mine = await remote.writer({ onOutdated: () => told.push('outdated') });
    const other = await remote.writer();
    const limitTo = (pages: string) =>
      mine.write(async (tx) => void (await tx.get(`PRAGMA max_page_count = ${pages}`)));
    await limitTo('1');
    await other.write((tx) => tx.put(INSERT, ['large', randomBytes(100_000)]));
    await expect(mine.catchUp()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(told).toEqual([]);
    await limitTo('1000000');
    expect(mine.replication.position).toBe(3);
  });
});
