import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Driver, NotDone } from './driver.ts';

const SENDERS = 4;
/** Deliveries that stay in the database, fill its log, or become files. */
const BODY_BYTES = [300, 240_000, 220_000, 300_000, 200_000] as const;
/** Work stops so often and for so long, whereupon the log is folded in. */
const PAUSE_EVERY_MS = 1200;
const PAUSE_MS = 350;
/** A project may send 50 a day. */
const MAILS_MAX = 45;

interface Paths {
  readonly work: string;
  readonly routed: string;
}

/** Creates sources, a route and a policy, and makes the log long enough to be archived. */
export async function prepare(driver: Driver, receiver: string): Promise<Paths> {
  const paths = { work: await driver.addSource('work'), routed: await driver.addSource('routed') };
  await driver.addRoute(receiver, 'routed');
  await driver.allowMail();
  await driver.follow();
  return paths;
}

/** Everything an agent does, by several at once, until the time is over or the daemon is. */
export class Load {
  readonly #driver: Driver;
  readonly #paths: Paths;
  readonly #endsAt: number;
  readonly #startedAt = performance.now();
  /** Refusals that nobody should get while the disk is well. */
  readonly wrong: string[] = [];

  constructor(driver: Driver, paths: Paths, seconds: number) {
    this.#driver = driver;
    this.#paths = paths;
    this.#endsAt = performance.now() + seconds * 1000;
  }

  async run(): Promise<void> {
    const senders = Array.from({ length: SENDERS }, (_, n) =>
      this.#repeat((i) => this.#work(n, i)),
    );
    await Promise.all([
      ...senders,
      this.#repeat((i) => this.#route(i)),
      this.#repeat((i) => this.#keep(i)),
      this.#repeat((i) => this.#file(i)),
      this.#repeat((i) => this.#decide(i)),
    ]);
  }

  async #repeat(step: (count: number) => Promise<void>): Promise<void> {
    for (let count = 0; performance.now() < this.#endsAt; count += 1) {
      try {
        await step(count);
      } catch (error) {
        if (!(error instanceof NotDone)) throw error;
        this.wrong.push(error.message);
        if (error.status === 0) return;
      }
      await sleep(this.#pauseMs());
    }
  }

  /** All pause at the same time. */
  #pauseMs(): number {
    const within = (performance.now() - this.#startedAt) % (PAUSE_EVERY_MS + PAUSE_MS);
    return within > PAUSE_EVERY_MS ? PAUSE_EVERY_MS + PAUSE_MS - within : 3;
  }

  async #work(sender: number, count: number): Promise<void> {
    const bytes = BODY_BYTES[(sender + count) % BODY_BYTES.length] ?? 0;
    const { work } = this.#paths;
    const event = await this.#driver.deliver('work', work, `w-${sender}-${count}`, bytes);
    if (count % 4 === 3) return;
    const lease = await this.#driver.claim(event);
    if (count % 4 === 0) return this.#driver.finish(event, 'done', lease);
    if (count % 4 === 1) return this.#driver.finish(event, 'dead', lease);
    if (count % 8 === 2) await this.#driver.finish(event, 'failed', lease);
  }

  async #route(count: number): Promise<void> {
    await this.#driver.deliver('routed', this.#paths.routed, `r-${count}`, 400);
    await sleep(40);
  }

  async #keep(count: number): Promise<void> {
    const name = count % 2 === 0 ? `counter-${count % 6}` : `state/task-${count % 5}`;
    await this.#driver.putValue(name, String(count));
  }

  async #file(count: number): Promise<void> {
    const name = `f${count % 4}`;
    const bytes = count % 5 === 4 ? 1_200_000 : 280_000 + 9000 * (count % 7);
    await this.#driver.putFile(name, randomBytes(bytes));
    if (count % 6 === 5) await this.#driver.deleteFile(name);
    await sleep(30);
  }

  async #decide(count: number): Promise<void> {
    const words = `question-${count}-`;
    const request = await this.#driver.ask('deploy', words);
    if (count < MAILS_MAX) await this.#driver.sendMail(`mail-${count}`);
    if (count % 3 > 0) await this.#driver.approve(request, words);
    await sleep(60);
  }
}
