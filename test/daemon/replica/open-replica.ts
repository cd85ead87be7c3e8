import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import type { ReplicaTiming } from '../../../daemon/replica/sync/timing.ts';
import { Replica, type ReplicaOptions } from '../../../daemon/replica/replica.ts';
import type { ReplicaStatus } from '../../../daemon/replica/status.ts';

/** Short enough for a test; what is judged is the order of things, not their speed. */
const TIMING: Partial<ReplicaTiming> = {
  connect: { firstMs: 20, maxMs: 200 },
  repair: { firstMs: 20, maxMs: 200 },
  askAgainMs: 300,
};

interface Place {
  readonly url: string;
  readonly projectId: string;
  readonly apiKey: string;
}

/** A replica of a real gateway below `folder`, with short pauses. */
export function openReplica(
  gateway: Place,
  folder: string,
  options: Partial<Omit<ReplicaOptions, 'timing'>> & { timing?: Partial<ReplicaTiming> } = {},
): Replica {
  const { timing, ...rest } = options;
  return Replica.open({
    folder: join(folder, 'replica'),
    projectId: gateway.projectId,
    gateway: new URL(gateway.url),
    apiKey: gateway.apiKey,
    log: pino({ level: process.env['SVC_TEST_LOG'] ?? 'silent' }),
    ledgerHeadsFile: join(folder, 'ledger-heads.json'),
    ...rest,
    timing: { ...TIMING, ...timing },
  });
}

/** Lines of a log, to be looked at. */
export function collectingLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  };
  return { log: pino({ level: 'info' }, { write }), lines };
}

const PATIENCE_MS = 60_000;

/** Looks again and again; fails with what it last saw. */
export async function until<T>(
  look: () => T | Promise<T>,
  isThere: (seen: T) => boolean,
): Promise<T> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await look();
    if (isThere(seen)) return seen;
    if (performance.now() > endsAt) throw new Error(`Never there: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function untilState(
  replica: Replica,
  state: ReplicaStatus['state'],
): Promise<ReplicaStatus> {
  return until(
    () => replica.status,
    (status) => status.state === state,
  );
}

/** Live, and with everything the gateway has. */
export async function caughtUp(replica: Replica, position: number): Promise<void> {
  await untilState(replica, 'live');
  if (!(await replica.reached(position, PATIENCE_MS))) {
    throw new Error(`Not reached ${position}: ${JSON.stringify(replica.status)}`);
  }
}
