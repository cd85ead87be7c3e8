import { statfsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Bench, RunBench } from './bench.ts';
import { claim } from './cases/claim.ts';
import { copy } from './cases/copy.ts';
import { decide } from './cases/decide.ts';
import { failover } from './cases/failover.ts';
import { fanOut } from './cases/fan-out.ts';
import { gateways } from './cases/gateways.ts';
import { history } from './cases/history.ts';
import { files } from './cases/files.ts';
import { idle } from './cases/idle.ts';
import { ingest, queue } from './cases/ingest.ts';
import { kv, kvHistory } from './cases/kv.ts';
import { ledger } from './cases/ledger.ts';
import { mailBacklog } from './cases/mail-backlog.ts';
import { mailSend } from './cases/mail-send.ts';
import { mailWake } from './cases/mail-wake.ts';
import { mcp } from './cases/mcp.ts';
import { neighbours } from './cases/neighbours.ts';
import { policy } from './cases/policy.ts';
import { projects } from './cases/projects.ts';
import { push } from './cases/push.ts';
import { replica } from './cases/replica.ts';
import { replicaReads } from './cases/replica-reads.ts';
import { replicas } from './cases/replicas.ts';
import { start } from './cases/start.ts';
import { waits } from './cases/waits.ts';
import { wake } from './cases/wake.ts';
import { Workshop } from './children.ts';
import { PROXIES, type Proxy } from './front.ts';
import { drawScaling } from './scaling-plot.ts';
import { machine, markdown, writeJson, type Row } from './report.ts';
import { recordResults } from './results.ts';
import { writeFigures } from '../docs/figures.ts';

const BENCHES: Readonly<Record<string, RunBench>> = {
  ingest,
  queue,
  wake,
  waits,
  idle,
  mcp,
  neighbours,
  start,
  history,
  claim,
  ledger,
  kv,
  'kv-list': kvHistory,
  files,
  decide,
  policy,
  push,
  replica,
  'replica-reads': replicaReads,
  replicas,
  'fan-out': fanOut,
  copy,
  projects,
  gateways,
  failover,
  'mail-wake': mailWake,
  'mail-backlog': mailBacklog,
  'mail-send': mailSend,
};

const TMPFS = 0x01021994;

interface Options {
  readonly names: readonly string[];
  readonly json: string | undefined;
  /** Where the picture of the bench `gateways` goes. */
  readonly plot: string | undefined;
  readonly quick: boolean;
  readonly proxy: Proxy | null;
  /** Whether the figures in docs are replaced by these. */
  readonly record: boolean;
}

const USAGE = `npm run bench -- [BENCH…] [--quick] [--record] [--json FILE] [--plot FILE.svg]

Measures each figure beside something else in the same run, and prints the medians as a table.

  --quick      fewer rounds and shorter ones
  --proxy P    the bench neighbours sends everything through nginx or haproxy
  --record     write these figures into docs/figures.json and the pages that show them
  --json FILE  the samples as well
  --plot FILE  the picture of the bench gateways

Benches: ${Object.keys(BENCHES).join(', ')}
`;

/** Null where only the usage was asked for. Throws in one line what is wrong. */
function parseOptions(): Options | null {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      json: { type: 'string' },
      plot: { type: 'string' },
      proxy: { type: 'string' },
      quick: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const unknown = positionals.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) {
    throw new Error(`There is no bench ${unknown}. There are: ${Object.keys(BENCHES).join(', ')}.`);
  }
  const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
  const { json, plot, quick, record } = values;
  const proxy = PROXIES.find((one) => one === values.proxy) ?? null;
  if (values.proxy !== undefined && proxy === null) {
    throw new Error(`--proxy takes ${PROXIES.join(' or ')}.`);
  }
  return { names, json, plot, proxy, quick, record };
}

/** Each bench in turn; one that fails leaves a row that says so. */
async function runAll({ names, quick, proxy }: Options): Promise<{ rows: Row[]; failed: boolean }> {
  const rows: Row[] = [];
  let failed = false;
  for (const name of names) {
    const workshop = new Workshop();
    if (statfsSync(workshop.folder).type === TMPFS) {
      say(`!! ${workshop.folder} is in memory, where a sync costs nothing: set SVC_BENCH_TMP`);
    }
    const bench: Bench = {
      workshop,
      quick,
      proxy,
      rounds: quick ? 3 : 5,
      seconds: quick ? 2 : 4,
      progress: (text) => say(`${name}: ${text}`),
    };
    const close = (): void => void workshop.close().finally(() => process.exit(130));
    process.once('SIGINT', close);
    try {
      const made = (await BENCHES[name]?.(bench)) ?? [];
      for (const row of made) if (row.skipped) say(`!! ${row.what} is skipped: ${row.skipped}`);
      rows.push(...made);
    } catch (error) {
      failed = true;
      say(`!! ${name} failed: ${error instanceof Error ? error.stack : String(error)}`);
      rows.push({ bench: name, what: 'the whole bench', skipped: 'it failed' });
    } finally {
      process.off('SIGINT', close);
      await workshop.close();
    }
  }
  return { rows, failed };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function main(): Promise<number> {
  let options: Options | null;
  try {
    options = parseOptions();
  } catch (error) {
    say(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (!options) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { rows, failed } = await runAll(options);
  console.log(`${machine()}${options.quick ? ', quick' : ''}\n\n${markdown(rows)}`);
  if (options.plot !== undefined) drawScaling(rows, options.plot);
  if (options.record) {
    recordResults(rows, options.quick);
    writeFigures();
  }
  if (options.json !== undefined) writeJson(options.json, rows, options.quick);
  // A target that is missed is for the reader to judge; a bench that cannot run is an error.
  return failed ? 1 : 0;
}

process.exitCode = await main();
