import PgBoss from 'pg-boss';
import { deliveryBody } from '../delivery.ts';
import { answerCalls } from './rpc.ts';

export interface PgBossOptions {
  /** The folder of PostgreSQL's socket. */
  readonly socketFolder: string;
  readonly user: string;
  readonly connections: number;
}

const QUEUE = 'bench';
let boss: PgBoss | null = null;

/** Without the timers that watch over a fleet, which would only cost it here. */
async function connect({ socketFolder, user, connections }: PgBossOptions): Promise<void> {
  boss = new PgBoss({
    host: socketFolder,
    user,
    database: 'postgres',
    max: connections,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => {
    process.stderr.write(`pg-boss: ${error.message}\n`);
  });
  await boss.start();
  await boss.createQueue(QUEUE);
}

interface Burst {
  readonly seconds: number;
  readonly concurrency: number;
}

/** Jobs sent a second, by loops that each send one after another. */
function send(burst: Burst): Promise<number> {
  const data = JSON.parse(deliveryBody(0)) as object;
  return perSecond(burst, async () => (await connected().send(QUEUE, data)) !== null);
}

/** Leaves this many jobs to be fetched: it sorts what waits at each fetch, so an endless supply would slow it down. */
async function fill({ count }: { count: number }): Promise<void> {
  await connected().purgeQueue(QUEUE);
  const data = JSON.parse(deliveryBody(0)) as object;
  for (let done = 0; done < count; done += 1000) {
    await connected().insert(Array.from({ length: 1000 }, () => ({ name: QUEUE, data })));
  }
}

/** Jobs fetched and completed a second, until the time is over or none is left. */
function fetchAndComplete(burst: Burst): Promise<number> {
  return perSecond(burst, async () => {
    const [job] = await connected().fetch(QUEUE);
    if (!job) return false;
    await connected().complete(QUEUE, job.id);
    return true;
  });
}

async function perSecond(burst: Burst, once: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  const endsAt = start + burst.seconds * 1000;
  let count = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt && (await once())) count += 1;
  };
  await Promise.all(Array.from({ length: burst.concurrency }, loop));
  return count / ((performance.now() - start) / 1000);
}

function connected(): PgBoss {
  if (!boss) throw new Error('Not connected.');
  return boss;
}

answerCalls({ connect, send, fill, fetchAndComplete });
