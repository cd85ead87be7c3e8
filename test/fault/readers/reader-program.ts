import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedReader } from '../../../shared/store/engine/reader.ts';
import type { ReaderReport } from './soak.ts';

/** Takes snapshots of a database until told to stop, and reports wrong ones: `reader-program.ts FILE`. */
const [path = ''] = process.argv.slice(2);
const reader = new EmbeddedReader(path);
const wrong: string[] = [];
let snapshots = 0;
const ending = new AbortController();
let sum = -1;
let last = 0;
process.once('message', () => ending.abort());
process.send?.('ready');
while (!ending.signal.aborted && wrong.length < 5) {
  const seen = await reader.read(async (tx) => ({
    ...(await tx.get("SELECT sum(value) AS amount FROM item WHERE name LIKE 'account %'")),
    // A second look within the snapshot: nothing may have changed meanwhile.
    ...(await tx.get("SELECT sum(value) AS again FROM item WHERE name LIKE 'account %'")),
    ...(await tx.get("SELECT value AS turn FROM item WHERE name = 'turn'")),
  }));
  snapshots += 1;
  const amount = Number(seen['amount']);
  const at = Number(seen['turn']);
  if (sum === -1) sum = amount;
  if (amount !== sum || seen['again'] !== seen['amount'] || at < last) {
    wrong.push(`${JSON.stringify(seen)} where the sum was ${sum} and the turn ${last}`);
  }
  last = at;
  // The writer needs some of the machine, too.
  await sleep(1);
}
await reader.close();
const report: ReaderReport = { snapshots, wrong };
process.send?.(report);
