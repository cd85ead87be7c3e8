import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { check } from './check.ts';
import type { Disk } from './disk.ts';
import { Facts, type Mark } from './facts.ts';
import { writeImage, type Luck } from './image.ts';
import type { Random } from './random.ts';
import type { LogRecord } from './shim.ts';
import { ShimmedDaemon } from './shimmed-daemon.ts';

/** Everything a daemon did to its disk, and everything it acknowledged. */
export interface Recording {
  /** As it was before; every record is applied to it once. */
  readonly disk: Disk;
  readonly records: readonly LogRecord[];
}

/** Where the power goes: after this many records. */
export interface Cut {
  readonly at: number;
  readonly luck: Luck;
}

/** One image in this many gets a replica. */
const REPLICA_EVERY = 4;

interface Finding {
  readonly cut: Cut;
  /** See `check`. */
  readonly problems: readonly string[];
}

export interface Outcome {
  readonly images: number;
  /** Images of a daemon that hadn't answered yet. */
  readonly unborn: number;
  /** Facts that were looked for, over all images. */
  readonly acknowledged: number;
  readonly findings: readonly Finding[];
}

export function factsIn(records: readonly LogRecord[]): Facts {
  const facts = new Facts();
  for (const record of records) addTo(facts, record);
  return facts;
}

function addTo(facts: Facts, { op, data }: LogRecord): void {
  if (op === 'A') facts.add(JSON.parse(data.toString('utf8')) as Mark);
}

/** Makes an image of the disk at each cut, and looks at it. */
export async function replay(
  { disk, records }: Recording,
  cuts: readonly Cut[],
  {
    folder,
    random,
    progress,
  }: { folder: string; random: Random; progress?: (line: string) => void },
): Promise<Outcome> {
  const facts = new Facts();
  const findings: Finding[] = [];
  let looked = 0;
  let unborn = 0;
  let acknowledged = 0;
  for (const cut of cuts.toSorted((one, other) => one.at - other.at)) {
    for (const record of records.slice(disk.applied, cut.at)) {
      disk.apply(record);
      addTo(facts, record);
    }
    const image = join(folder, 'image');
    writeImage(disk, image, cut.luck, random);
    const withReplica = looked % REPLICA_EVERY === 0;
    const problems = facts.ready ? await check(image, facts, { withReplica }) : await begins(image);
    looked += 1;
    rmSync(image, { recursive: true, force: true });
    if (!facts.ready) unborn += 1;
    acknowledged += facts.acknowledged;
    if (problems.length > 0) findings.push({ cut, problems });
    for (const line of problems) progress?.(`cut at ${cut.at}, ${cut.luck}: ${line}`);
  }
  return { images: cuts.length, unborn, acknowledged, findings };
}

/** Nothing was acknowledged, but the next start must succeed. */
async function begins(home: string): Promise<string[]> {
  const daemon = ShimmedDaemon.start(home, null);
  const running = await daemon.ready().catch(() => null);
  const code = await daemon.end();
  if (running && code === 0) return [];
  return [`damaged: the daemon does not start: ${daemon.output.slice(0, 500)}`];
}

/** Where the records of the daemon begin. */
export function firstOfDaemon(records: readonly LogRecord[]): number {
  return records.findIndex(({ op }) => op !== 'A');
}
