import type { IngressLimits } from '../../shared/rules/inbox/ingress-limit.ts';

/** How much may come in. */
export interface IngressConfig {
  readonly limits: IngressLimits;
  /** Bytes of the disk to keep free: 0 for none, null for a tenth of it, at most 1 GiB. */
  readonly diskReserveBytes: number | null;
  /** Bytes of its log that each project keeps for replicas that were away; null goes by the size of its database. */
  readonly replicaLogBytes?: number | null;
  /** Says how much room a folder's disk has; tests pass their own. */
  readonly diskProbe?: (
    folder: string,
  ) => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
}

const MIB = 1024 * 1024;

const QUOTAS = { projectBytes: 10_240 * MIB, sourceBytes: 5120 * MIB };

/** For a gateway that strangers share: above what busy senders send, and far below what a disk takes in ten minutes. */
export const HOSTED_INGRESS: IngressConfig = {
  limits: { ...QUOTAS, eventsPerMinute: 6000, bytesPerTenMinutes: 200 * MIB },
  diskReserveBytes: null,
};

/** For a machine's own data: nobody else's sender can reach it, unless its owner lets them. */
export const LOCAL_INGRESS: IngressConfig = {
  limits: { ...QUOTAS, eventsPerMinute: 0, bytesPerTenMinutes: 0 },
  diskReserveBytes: null,
};

/** Reads the settings; `complain` gets each problem as a sentence without the value. */
export function readIngressConfig(
  env: NodeJS.ProcessEnv,
  defaults: IngressConfig,
  complain: (problem: string) => void,
): IngressConfig {
  const read = (name: string, ordinary: number, unit = 1, zero = 'no limit'): number => {
    const text = env[name];
    if (!text) return ordinary;
    if (/^\d{1,9}$/.test(text)) return Number(text) * unit;
    complain(`${name} must be a whole number from 0. 0: ${zero}.`);
    return ordinary;
  };
  const { limits, diskReserveBytes } = defaults;
  return {
    replicaLogBytes: env['SVC_REPLICA_LOG_MB']
      ? read('SVC_REPLICA_LOG_MB', 0, MIB, 'only the newest part')
      : null,
    limits: {
      projectBytes: read('SVC_PROJECT_EVENTS_MB', limits.projectBytes, MIB),
      sourceBytes: read('SVC_SOURCE_EVENTS_MB', limits.sourceBytes, MIB),
      eventsPerMinute: read('SVC_SOURCE_EVENTS_PER_MINUTE', limits.eventsPerMinute),
      bytesPerTenMinutes: read('SVC_SOURCE_MB_PER_TEN_MINUTES', limits.bytesPerTenMinutes, MIB),
    },
    diskReserveBytes: env['SVC_DISK_RESERVE_MB']
      ? read('SVC_DISK_RESERVE_MB', 0, MIB, 'nothing is kept free')
      : diskReserveBytes,
  };
}
