import { setTimeout as sleep } from 'node:timers/promises';
import { NotDone, type Driver } from './driver.ts';

const LARGE = 300_000;
const PUSHED_WITHIN_MS = 60_000;
/** Enough to make an idle daemon checkpoint its log, and the pause in which it does. */
const LOG_BODIES = 22;
const LOG_BODY_BYTES = 200_000;
const IDLE_MS = 400;

/** What the steps pass on to each other. It outlives the daemon. */
interface Memory {
  readonly events: Map<string, string>;
  readonly requests: Map<string, string>;
  readonly paths: Map<string, string>;
  readonly pushed: ReadonlySet<string>;
  readonly receiver: string;
}

interface Step {
  readonly name: string;
  readonly run: (driver: Driver, memory: Memory) => Promise<void>;
}

/**
 * Everything that agents and people do, once and in order. An interrupted step is repeated as the same call, so each has
 * one effect.
 */
const SMALL: readonly Step[] = [
  {
    name: 'sources',
    run: (driver, memory) => inOrder(['work', 'routed'], (name) => addSource(driver, memory, name)),
  },
  { name: 'route', run: (driver, { receiver }) => driver.addRoute(receiver, 'routed') },
  { name: 'ingest', run: ingest('small', 500) },
  { name: 'ingest a large one', run: ingest('large', LARGE) },
  { name: 'claim and ack', run: work('small', 'done') },
  { name: 'claim and nack', run: work('large', 'dead') },
  { name: 'value', run: (driver) => driver.putValue('color', 'blue') },
  { name: 'state', run: (driver) => driver.putValue('state/task', 'halfway') },
  { name: 'file', run: (driver) => driver.putFile('report', Buffer.alloc(LARGE, 'report')) },
  {
    name: 'another file in its place',
    run: (driver) => driver.putFile('report', Buffer.alloc(LARGE, 'new')),
  },
  { name: 'file deleted', run: (driver) => driver.deleteFile('report') },
  { name: 'upload', run: (driver) => driver.putFile('video', Buffer.alloc(1_100_000, 'video')) },
  { name: 'policy', run: (driver) => driver.allowMail() },
  { name: 'ask', run: ask },
  {
    name: 'decide',
    run: (driver, { requests }) => driver.approve(requests.get('one') ?? '', 'question-one'),
  },
  { name: 'ingest what waits for a person', run: ingest('parked', 500) },
  { name: 'park', run: park },
  {
    name: 'decide and go on',
    run: (driver, { events, requests }) =>
      driver.resume(events.get('parked') ?? '', requests.get('parked') ?? ''),
  },
  { name: 'mail', run: (driver) => driver.sendMail('mail-one') },
  { name: 'push', run: push },
];

const WITH_ROTATION: readonly Step[] = [
  ...SMALL,
  {
    name: 'fill the log',
    run: (driver, memory) =>
      inOrder([...Array(LOG_BODIES).keys()], (n) =>
        ingest(`fill-${n}`, LOG_BODY_BYTES)(driver, memory),
      ),
  },
  { name: 'let it be folded in', run: () => sleep(IDLE_MS) },
  { name: 'write on', run: (driver) => driver.putValue('color', 'green') },
];

export class Scenario {
  readonly #memory: Memory;
  readonly #steps: readonly Step[];
  #next = 0;

  constructor(memory: Pick<Memory, 'pushed' | 'receiver'>, options: { rotates: boolean }) {
    this.#memory = { ...memory, events: new Map(), requests: new Map(), paths: new Map() };
    this.#steps = options.rotates ? WITH_ROTATION : SMALL;
  }

  get isOver(): boolean {
    return this.#next === this.#steps.length;
  }

  /** Continues with the interrupted step. Throws NotDone if the daemon doesn't do it. */
  async run(driver: Driver): Promise<void> {
    for (let step = this.#steps[this.#next]; step; step = this.#steps[this.#next]) {
      await step.run(driver, this.#memory).catch((error: unknown) => {
        if (error instanceof NotDone) error.message = `${step?.name}: ${error.message}`;
        throw error;
      });
      this.#next += 1;
    }
  }
}

async function inOrder<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await each(item);
}

async function addSource(driver: Driver, { paths }: Memory, name: string): Promise<void> {
  paths.set(name, await driver.addSource(name));
}

function ingest(id: string, bytes: number): Step['run'] {
  return async (driver, { events, paths }) => {
    events.set(id, await driver.deliver('work', paths.get('work') ?? '', id, bytes));
  };
}

function work(id: string, state: 'done' | 'dead'): Step['run'] {
  return async (driver, { events }) => {
    const event = events.get(id) ?? '';
    await driver.finish(event, state, await driver.claim(event));
  };
}

async function ask(driver: Driver, { requests }: Memory): Promise<void> {
  requests.set('one', await driver.ask('deploy', 'question-one'));
}

async function park(driver: Driver, { events, requests }: Memory): Promise<void> {
  const event = events.get('parked') ?? '';
  requests.set('parked', await driver.park(event, await driver.claim(event)));
}

async function push(driver: Driver, { paths, pushed }: Memory): Promise<void> {
  const event = await driver.deliver('routed', paths.get('routed') ?? '', 'routed-one', 400);
  for (const endsAt = performance.now() + PUSHED_WITHIN_MS; !pushed.has(event);) {
    if (performance.now() > endsAt) throw new NotDone('push', 0, 'it did not come');
    await driver.call('GET', '/v1/whoami');
    await sleep(10);
  }
}
