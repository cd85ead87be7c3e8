import { strict as assert } from 'node:assert';
import type { CrashPoint } from '../../shared/store/log/generations.ts';
import { EmbeddedReader } from '../../shared/store/engine/reader.ts';
import { EmbeddedWriter } from '../../shared/store/engine/writer.ts';
import { makeItems } from '../helpers/database.ts';
import { serveLog } from '../helpers/log-server.ts';

/** A database that serves its log to replicas, in a separate process that dies where told to. */
const [path = '', armed = ''] = process.argv.slice(2);
let crashAt = armed;

const fatal: unknown[] = [];
const writer = new EmbeddedWriter(
  path,
  {
    onFatal: (error) => fatal.push(error),
    replication: {
      now: () => Date.now(),
      onReplication: () => undefined,
      at: (point: CrashPoint) => {
        if (point === crashAt) process.kill(process.pid, 'SIGKILL');
      },
    },
  },
  makeItems,
);
const reader = new EmbeddedReader(path);
const server = await serveLog(writer, path);

const INSERT = 'INSERT INTO item (name, value) VALUES (?, ?)';

const SUMMARY =
  'SELECT name, substr(value, 1, 20) AS head, length(value) AS chars FROM item ORDER BY name';

const commands = {
  put: (names: readonly string[], times: number) =>
    Promise.all(
      names.map((name) => writer.write((tx) => tx.run(INSERT, [name, name.repeat(times)]))),
    ),
  /** Writes more than the page cache holds, and takes it back. */
  async undo(bytes: number) {
    const undone = writer.write(async (tx) => {
      for (let at = 0; at < bytes; at += 1024 * 1024) {
        await tx.run(INSERT, [`undone-${at}`, Buffer.alloc(1024 * 1024, 1)]);
      }
      throw new Error('undone');
    });
    await assert.rejects(undone, /undone/);
  },
  remove: (name: string) => writer.write((tx) => tx.run('DELETE FROM item WHERE name = ?', [name])),
  follow: () => writer.follow(),
  rotate: () => writer.rotate(),
  copyBase: () => writer.copyBase(),
  async close() {
    await reader.close();
    await writer.close();
  },
  state: async () => ({
    replication: writer.replication,
    url: server.url(),
    fatal: fatal.map(String),
  }),
  async content() {
    const rows = await reader.read((tx) => tx.all(SUMMARY));
    const [checked] = await reader.read((tx) => tx.all('PRAGMA integrity_check'));
    const integrity = checked?.['integrity_check'];
    return { integrity, rows: rows.map(({ name, head, chars }) => [name, head, chars]) };
  },
  async crashAt(point: CrashPoint) {
    crashAt = point;
  },
};

interface Call {
  readonly id: number;
  readonly name: keyof typeof commands;
  readonly args: readonly unknown[];
}

process.on('message', ({ id, name, args }: Call) => {
  const command = commands[name] as (...given: readonly unknown[]) => Promise<unknown>;
  command(...args).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0 });
