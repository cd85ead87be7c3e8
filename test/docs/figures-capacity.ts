import type { Results } from '../bench/results.ts';
import { median, rough, short, table, thousands } from './figures-table.ts';

/** A row, its ledger entries and its payload, for an event of 1 KB; and what is left when the payload is gone. */
const EVENT_KB = { whole: 3, later: 2 };
/** How busy a gateway should be in its busiest minute. */
const BUSY = 0.6;

interface Capacity {
  readonly webhooks: number;
  readonly claims: number;
  readonly pushes: number;
  readonly waitKilobytes: number;
  readonly idleMegabytes: number;
  readonly projectMegabytes: number;
}

function capacityOf(results: Results): Capacity {
  const idle = median(results, 'projects', 'resident memory');
  const opened = median(results, 'projects', 'after a call to each');
  const OPEN = 256;
  return {
    webhooks: rough(median(results, 'ingest')),
    claims: rough(median(results, 'claim')),
    pushes: rough(median(results, 'push')),
    waitKilobytes: Math.ceil(median(results, 'waits')),
    idleMegabytes: Math.ceil(median(results, 'idle', 'resident memory')),
    projectMegabytes: Math.max(0.1, Math.round(((opened - idle) / OPEN) * 100) / 100),
  };
}

export function oneGateway(results: Results): string {
  const { webhooks, claims, pushes, waitKilobytes, idleMegabytes } = capacityOf(results);
  const backlog = rough(median(results, 'mail-backlog'));
  const sent = rough(median(results, 'mail-send', 'Postfix'));
  const idle = short(median(results, 'projects', 'resident memory'));
  const start = short(median(results, 'projects', 'start'));
  return table(
    ['what', 'one gateway, databases in files'],
    [
      [
        'verified, durable webhooks of 1 KB',
        `${thousands(webhooks)} /s over all projects; the thread that writes is the limit`,
      ],
      ['claim and ack', `${thousands(claims)} pairs/s`],
      ['pushes to callbacks', `${thousands(pushes)} /s`],
      ['signed mails in, mails out', `${backlog} /s, ${sent} /s (Postfix on the same machine)`],
      ['memory', `${idleMegabytes} MB, ${waitKilobytes} kB for each held wait`],
      ['open projects', '256 (`SVC_OPEN_PROJECTS`); the others open when they are called'],
      ['idle projects', `a row each: 2,000 of them take ${idle} MB in all`],
      [
        'disk for an event of 1 KB, claimed and acked',
        `${EVENT_KB.whole} KB while its payload is kept (30 days), ${EVENT_KB.later} KB afterwards`,
      ],
      ['start with 2,000 projects', `${start} ms`],
    ],
  );
}

export function estimate(results: Results): string {
  const { webhooks, claims, pushes, ...memory } = capacityOf(results);
  const { idleMegabytes, projectMegabytes, waitKilobytes } = memory;
  return [
    `- **processor**: webhooks/s ÷ ${thousands(webhooks)} + claims/s ÷ ${thousands(claims)} + pushes/s ÷ ${thousands(pushes)}; keep it below ${BUSY} in the busiest minute`,
    `- **memory**: ${idleMegabytes} MB + ${projectMegabytes} MB × open projects + ${waitKilobytes} kB × waits`,
    `- **disk**: ${EVENT_KB.whole} KB + payload for each event of the last 30 days, ${EVENT_KB.later} KB for each older one, and the files`,
  ].join('\n');
}

/** Assumed, in dollars a month. */
const PRICE = { machine: 20, diskTb: 100, bucketTb: 20, hostedTb: 500, millionRows: 1 };
/** Assumed of each project: webhooks a day, of 2 KB, all claimed; the busiest minute against the average; files. */
const USE = { daily: 100, peak: 10, filesMb: 20, waiting: 0.1, rowsEach: 40 };

interface Cost {
  readonly monthlyMillions: number;
  readonly average: number;
  readonly peak: number;
  readonly processor: number;
  readonly gateways: number;
  readonly memoryMb: number;
  readonly databasesTb: number;
  readonly filesTb: number;
}

function costOf(projects: number, capacity: Capacity): Cost {
  const daily = projects * USE.daily;
  const average = daily / 86_400;
  const peak = average * USE.peak;
  const processor = peak / capacity.webhooks + peak / capacity.claims;
  const gateways = Math.ceil(processor / BUSY);
  const waits = (projects * USE.waiting) / gateways;
  const kilobytes = daily * (30 * (EVENT_KB.whole + 1) + 335 * EVENT_KB.later);
  return {
    monthlyMillions: (daily * 30) / 1e6,
    average,
    peak,
    processor,
    gateways,
    memoryMb:
      capacity.idleMegabytes +
      256 * capacity.projectMegabytes +
      (waits * capacity.waitKilobytes) / 1000,
    databasesTb: kilobytes / 1e9,
    filesTb: (projects * USE.filesMb) / 1e6,
  };
}

function money(value: number): string {
  return `$${thousands(rough(value))}`;
}

/** Databases in files on machines of one's own, files in a bucket. */
function costWithFiles(one: Cost): number {
  return (
    one.gateways * PRICE.machine + one.databasesTb * PRICE.diskTb + one.filesTb * PRICE.bucketTb
  );
}

function costHosted(one: Cost): number {
  return (
    one.monthlyMillions * USE.rowsEach * PRICE.millionRows +
    one.databasesTb * PRICE.hostedTb +
    Math.max(2, one.gateways) * PRICE.machine +
    one.filesTb * PRICE.bucketTb
  );
}

export function costTable(results: Results): string {
  const capacity = capacityOf(results);
  const sizes = [10_000, 1_000_000].map((projects) => ({
    projects,
    ...costOf(projects, capacity),
  }));
  const row = (name: string, of: (cost: (typeof sizes)[number]) => string) => [
    name,
    ...sizes.map(of),
  ];
  return table(
    ['a month, after a year', ...sizes.map(({ projects }) => `${thousands(projects)} projects`)],
    [
      row(
        'webhooks',
        (one) =>
          `${thousands(one.monthlyMillions)} million: ${thousands(rough(one.average))} /s, ${thousands(rough(one.peak))} /s at the busiest`,
      ),
      row('processor, webhooks and claims', ({ processor }) => short(processor)),
      row(`gateways with files, at ${BUSY} each`, ({ gateways }) => String(gateways)),
      row('memory of each', ({ memoryMb }) => `${thousands(rough(memoryMb))} MB`),
      row('databases', ({ databasesTb }) => `${short(databasesTb)} TB`),
      row('files', ({ filesTb }) => `${short(filesTb)} TB`),
      row('**databases on machines, files in a bucket**', (one) => money(costWithFiles(one))),
      row('the same with a backup of every database', (one) =>
        money(costWithFiles(one) + one.databasesTb * PRICE.diskTb),
      ),
      row('**a hosted libSQL, two gateways or more**', (one) => money(costHosted(one))),
    ],
  );
}
