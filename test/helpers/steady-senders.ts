import { setTimeout as sleep } from 'node:timers/promises';
import type { TeamProject } from './team.ts';

const SENDERS = 8;
/** A sender waits this long after a refusal. */
const PAUSE_MS = 50;

/** Senders of webhooks that go on whatever happens, and what was accepted of them. */
export class SteadySenders {
  /** Ids of events that were acknowledged. */
  readonly acknowledged = new Set<string>();
  /** When each project's deliveries were accepted, in milliseconds. */
  readonly acceptedAt = new Map<string, number[]>();
  readonly #over = new AbortController();
  readonly #done: Promise<unknown>;

  /** `hooks`: a webhook address by the project's id. Each project has a sender, and the rest take turns. */
  constructor(hooks: ReadonlyMap<string, string>) {
    const all = [...hooks];
    this.#done = Promise.all(Array.from({ length: SENDERS }, (_, who) => this.#send(who, all)));
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#done;
  }

  /** The longest time without an accepted delivery to one project, in milliseconds. */
  longestGapMs(from: number): number {
    const gaps = [...this.acceptedAt.values()].flatMap((times) => {
      const all = [from, ...times.filter((time) => time > from)];
      return all.slice(1).map((time, n) => time - (all[n] ?? time));
    });
    return Math.max(...gaps);
  }

  async #send(who: number, hooks: readonly (readonly [id: string, url: string])[]): Promise<void> {
    for (let n = 0; !this.#over.signal.aborted; n += 1) {
      const [project, url] = hooks[(who + n) % hooks.length] ?? ['', ''];
      const id = await deliver(url, JSON.stringify({ who, n }));
      if (id === null) {
        await sleep(PAUSE_MS);
        continue;
      }
      this.acknowledged.add(id);
      const times = this.acceptedAt.get(project) ?? [];
      this.acceptedAt.set(project, times);
      times.push(performance.now());
    }
  }
}

/** Adds a source to each project; returns their addresses by the project's id. */
export async function addHooks(
  base: string,
  projects: readonly TeamProject[],
): Promise<Map<string, string>> {
  const hooks = new Map<string, string>();
  for (const { id, apiKey } of projects) {
    const made = await fetch(`${base}/v1/sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'webhook', name: 'shop' }),
    });
    hooks.set(id, ((await made.json()) as { url: string }).url);
  }
  return hooks;
}

/** The event's id; null if it wasn't accepted. */
async function deliver(url: string, body: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(10_000) });
    const { event_id } = (await answer.json()) as { event_id?: string };
    return answer.status === 200 ? (event_id ?? null) : null;
  } catch {
    return null;
  }
}
