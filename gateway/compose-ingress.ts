import type { Logger } from 'pino';
import { fileOf } from '../shared/store/engine/location.ts';
import type { Clock } from '../shared/lib/clock.ts';
import { DamageRegister } from '../shared/store/sums/damage.ts';
import type { FileDamage } from '../shared/store/sums/sum-keeper.ts';
import { KeyUse } from './auth/key-use.ts';
import type { IngressConfig } from './lib/ingress-config.ts';
import type { Databases } from './store/databases.ts';
import { DiskSpace, type DiskStatus } from './projects/limits/disk-space.ts';
import { IngressGuard } from './projects/limits/ingress-guard.ts';
import { projectSizes } from './projects/limits/project-sizes.ts';
import type { ControlStore } from './store/control-store.ts';
import { giveUpLogs } from '../shared/store/log/log-archive.ts';

interface DiskDeps {
  readonly control: ControlStore;
  readonly databases: Databases;
  readonly dataFolder: string;
  /** Null if blobs are in a bucket. */
  readonly blobsFolder: string | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly damage: DamageRegister;
}

const CHANGED: Readonly<Record<DiskStatus['level'], string>> = {
  ok: 'the disk has room again: everything comes in',
  low: 'the disk is nearly full: the project that stores the most takes nothing in',
  full: 'the disk is nearly full: no project takes in large bodies',
};

/** Looks after the disks that this gateway writes to: of the databases if they are files, and of the blobs. */
function openDiskSpace(
  config: IngressConfig,
  { control, databases, dataFolder, blobsFolder, clock, log }: DiskDeps,
): DiskSpace {
  const hasBlobs = blobsFolder !== null;
  const folders = new Set([
    ...(databases.onServer ? [] : [dataFolder]),
    ...(hasBlobs ? [blobsFolder] : []),
  ]);
  return new DiskSpace({
    folders: [...folders],
    reserveBytes: config.diskReserveBytes,
    giveUp: async () => {
      log.warn('the disk is nearly full: logs that were kept for replicas are deleted');
      for (const { id } of await control.projects()) {
        await giveUpLogs(fileOf(databases.ofProject(id)));
      }
    },
    sizes: (only) => projectSizes({ control, databases, hasBlobs }, only),
    now: () => clock.now(),
    onChange: ({ level, freeBytes: free_bytes, reserveBytes: reserve_bytes }) =>
      log[level === 'ok' ? 'info' : 'warn']({ free_bytes, reserve_bytes }, CHANGED[level]),
    onError: (error) => log.warn({ err: error }, "can't tell how much room the disk has"),
    ...(config.diskProbe && { probe: config.diskProbe }),
  });
}

export interface IngressWatch {
  readonly disk: DiskSpace;
  readonly keyUse: KeyUse;
  readonly guard: IngressGuard;
  readonly damage: DamageRegister;
}

/** The damage that is known in the data folder; each is in the log once, also what another process found. */
export function openDamage({
  dataFolder,
  clock,
  log,
}: Pick<DiskDeps, 'dataFolder' | 'clock' | 'log'>): DamageRegister {
  const damage = new DamageRegister(dataFolder, () => clock.now());
  damage.subscribe(({ project, file, what }) =>
    log.error({ project, file, what }, 'damage on the disk: svc gateway check says what to do'),
  );
  return damage;
}

/** Reports damage of the gateway's own files. */
export function reportsOf(damage: DamageRegister): (found: FileDamage) => void {
  return ({ path, what }) => damage.report({ project: null, file: damage.nameOf(path), what });
}

/** Assembles what decides whether a delivery may come in, and counts those that may not. */
export function watchIngress(config: IngressConfig, deps: DiskDeps): IngressWatch {
  const { clock, log } = deps;
  const disk = openDiskSpace(config, deps);
  const keyUse = new KeyUse(clock, {
    onRejected: (project, { source, count, reason }) =>
      log.warn({ project, source, count, reason }, 'deliveries were refused'),
    onError: (error) => log.warn({ err: error }, 'key use was not written'),
  });
  const guard = new IngressGuard({
    clock,
    disk,
    onRefused: (project, source, reason) => keyUse.noteRejected(project, source, reason),
  });
  return { disk, keyUse, guard, damage: deps.damage };
}
