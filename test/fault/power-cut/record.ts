import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Disk } from './disk.ts';
import { Driver } from './driver.ts';
import { Load, prepare } from './load.ts';
import { ageData } from './old-data.ts';
import { Receiver } from './receiver.ts';
import type { Recording } from './recording.ts';
import { Scenario } from './scenario.ts';
import { readLog, type Faults } from './shim.ts';
import { ShimmedDaemon } from './shimmed-daemon.ts';

const SETTLED_MS = 500;

interface Place {
  /** The daemon has `home` in it. */
  readonly folder: string;
  readonly library: string;
}

/** Runs the daemon under load from its first start on, and kills it. */
export async function recordLoad(
  place: Place,
  { seconds, faults = {} }: { readonly seconds: number; readonly faults?: Faults },
): Promise<Recording & { readonly wrong: readonly string[] }> {
  const wrong: string[] = [];
  const recording = await record(place, faults, async (driver, receiver) => {
    const load = new Load(driver, await prepare(driver, receiver.url), seconds);
    await load.run();
    wrong.push(...load.wrong);
  });
  return { ...recording, wrong };
}

/** Goes through the scenario from the first start to the last call, with the log folded in on the way. */
export function recordScenario(place: Place): Promise<Recording> {
  return record(place, {}, async (driver, { url, pushed }) => {
    await new Scenario({ receiver: url, pushed }, { rotates: true }).run(driver);
    // Background work has finished, too.
    await sleep(SETTLED_MS);
  });
}

async function record(
  { folder, library }: Place,
  faults: Faults,
  work: (driver: Driver, receiver: Receiver) => Promise<void>,
): Promise<Recording> {
  const home = join(folder, 'home');
  const log = join(folder, 'records');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const disk = new Disk(home);
  const receiver = await Receiver.start(log);
  const daemon = ShimmedDaemon.start(home, { library, log, faults });
  try {
    const running = await daemon.ready();
    if (!running) throw new Error(`The daemon ended: ${daemon.output}`);
    const driver = new Driver(running, join(home, 'data'), log);
    driver.done({ kind: 'ready', key: running.key, project: running.project });
    await work(driver, receiver);
  } finally {
    await daemon.end('SIGKILL');
    receiver.close();
  }
  return { disk, records: readLog(log) };
}

/** Starts a daemon on an early release's databases. The records start with what that release acknowledged. */
export async function recordMigration({ folder, library }: Place): Promise<Recording> {
  const home = join(folder, 'home');
  const before = join(folder, 'before');
  const log = join(folder, 'records');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const project = await fill(home, before);
  ageData(join(home, 'data'), project);
  const disk = new Disk(home);
  const daemon = ShimmedDaemon.start(home, { library, log });
  const running = await daemon.ready();
  await daemon.end('SIGKILL');
  if (!running) throw new Error(`The daemon ended: ${daemon.output}`);
  return { disk, records: [...readLog(before), ...readLog(log)] };
}

/** What an early release knew: events, values and files. Answers the project. */
async function fill(home: string, log: string): Promise<string> {
  const daemon = ShimmedDaemon.start(home, null);
  try {
    const running = await daemon.ready();
    if (!running) throw new Error(`The daemon ended: ${daemon.output}`);
    const driver = new Driver(running, join(home, 'data'), log);
    driver.done({ kind: 'ready', key: running.key, project: running.project });
    const path = await driver.addSource('work');
    for (const bytes of [300, 300_000, 2000]) {
      const event = await driver.deliver('work', path, `old-${bytes}`, bytes);
      if (bytes < 1000) await driver.finish(event, 'done', await driver.claim(event));
    }
    await driver.putValue('color', 'blue');
    await driver.putValue('state/task', 'halfway');
    await driver.putFile('report', Buffer.alloc(300_000, 'report'));
    return running.project;
  } finally {
    await daemon.end();
  }
}
