import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outflow } from '../../../../shared/api/mcp/tasks/hold.ts';
import { ServiceError, unavailable } from '../../../../shared/lib/errors.ts';
import type { Answer } from '../../../../shared/kernel/executor.ts';
import { Agent, told } from './agent.ts';
import type { Listener } from './listener.ts';
import { FakeExecutor, serveMcp, testOperations, type Served } from './fake.ts';
import { META, rpc, wireTo } from './wire.ts';
import { hurryTime } from '../../../helpers/hurried-time.ts';

beforeEach(() => hurryTime(10));

/** Has one key of the disk, whose version the test sets. */
class WatchedExecutor extends FakeExecutor {
  version = 1;
  looks = 0;
  /** How long one takes. */
  lookMs = 0;
  /** The time from the end of each look to the next. */
  readonly gaps: number[] = [];
  #lookEndedAt: number | null = null;
  /** What the next look meets. */
  trouble: Error | null = null;
  refusal: ServiceError | null = null;

  override async authenticate(credentials: Parameters<FakeExecutor['authenticate']>[0]) {
    if (this.refusal) throw this.refusal;
    return super.authenticate(credentials);
  }

  override async execute(...call: Parameters<FakeExecutor['execute']>): Promise<Answer> {
    if (call[0].name !== 'kv_list') return super.execute(...call);
    this.looks += 1;
    if (this.#lookEndedAt !== null) this.gaps.push(performance.now() - this.#lookEndedAt);
    // What stands there when it begins: what is set during a look is for the next one.
    const { version } = this;
    await sleep(this.lookMs);
    this.#lookEndedAt = performance.now();
    const { trouble } = this;
    this.trouble = null;
    if (trouble) throw trouble;
    return { value: { items: [{ key: 'a', version }], next_cursor: null } };
  }

  tell(kind: 'disk' | 'inbox' | 'everything'): void {
    for (const { changed } of this.followers) changed(kind === 'everything' ? null : { kind });
  }
}

let executor: WatchedExecutor;
let served: Served;
let agent: Agent;
const open: Listener[] = [];
const { post } = wireTo(() => served);

async function serve(pauseMs: number): Promise<void> {
  served = await serveMcp(executor, testOperations, { tickMs: 30, pauseMs });
  agent = new Agent(served.url.origin, 'good');
}

beforeEach(async () => {
  executor = new WatchedExecutor();
  executor.scopes = ['disk'];
  await serve(10);
});
afterEach(async () => {
  for (const listener of open.splice(0)) await listener.leave();
  await served.close();
});

async function listen(filter: Record<string, unknown>): Promise<Listener> {
  const listener = await agent.listen(filter);
  open.push(listener);
  return listener;
}

const WATCHED = { resourceSubscriptions: ['kv://a'] };

describe('a stream of subscriptions/listen', () => {
  it('is refused to a client that reads no streams', async () => {
    const body = rpc('subscriptions/listen', { _meta: META, notifications: {} });
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
      accept: 'application/json',
    };
    expect(await post(body, headers)).toMatchObject({
      status: 400,
      json: { id: 1, error: { code: -32_600, message: expect.stringContaining('Accept') } },
    });
    expect(executor.followers.size).toBe(0);
  });

  it('keeps the connection alive while nothing happens', async () => {
    const listener = await listen(WATCHED);
    await expect.poll(() => listener.comments).toBeGreaterThan(1);
    expect(listener.heard).toHaveLength(1);
    // Who could not be told is not asked either.
    expect(executor.looks).toBe(1);
  });

  it('is metered once', async () => {
    const before = executor.metered;
    await listen(WATCHED);
    expect(executor.metered).toBe(before + 1);
  });

  it('looks only when it may have been that, and tells only when it was', async () => {
    const listener = await listen(WATCHED);
    executor.tell('inbox');
    executor.tell('disk');
    await expect.poll(() => executor.looks).toBe(2);
    executor.version = 2;
    executor.tell('everything');
    await listener.next(1);
    expect(told(listener.heard.slice(1))).toEqual(['updated kv://a']);
    expect(executor.looks).toBe(3);
  });

  it('rests for longer than it looked', async () => {
    const listener = await listen(WATCHED);
    // In time that is hurried tenfold: long enough for a millisecond of a real timer to be a hundredth of it.
    executor.lookMs = 1000;
    for (executor.version = 2; executor.version < 5; executor.version += 1) {
      executor.tell('disk');
      await listener.next(executor.version - 1);
    }
    expect(executor.gaps).toHaveLength(3);
    // A timer counts in whole milliseconds, and may wake it one too early.
    expect(Math.min(...executor.gaps.slice(1))).toBeGreaterThanOrEqual(4 * 990);
  });

  it('leaves with its client, before it is acknowledged or later', async () => {
    const listener = await listen(WATCHED);
    expect(executor.followers.size).toBe(1);
    await listener.leave();
    await expect.poll(() => executor.followers.size).toBe(0);
    executor.tell('disk');
    expect(executor.looks).toBe(1);
  });

  it('ends with an error when the key is found to be none', async () => {
    const listener = await listen(WATCHED);
    executor.refusal = new ServiceError('UNAUTHENTICATED');
    const heard = await listener.over();
    expect(heard.at(-1)).toMatchObject({
      id: 7,
      error: { code: 401, data: { code: 'UNAUTHENTICATED' } },
    });
    expect(executor.followers.size).toBe(0);
  });

  it('goes on when it cannot be said for a moment whether the key holds', async () => {
    const listener = await listen(WATCHED);
    executor.refusal = unavailable(1);
    const before = listener.comments;
    await expect.poll(() => listener.comments).toBeGreaterThan(before + 2);
    executor.refusal = null;
    executor.version = 2;
    executor.tell('disk');
    await listener.next(1);
    expect(told(listener.heard.slice(1))).toEqual(['updated kv://a']);
  });

  it('tells less when the key may do less', async () => {
    const listener = await listen({ ...WATCHED, resourcesListChanged: true });
    executor.scopes = ['inbox:read'];
    executor.version = 2;
    executor.tell('disk');
    executor.tell('inbox');
    await listener.next(1);
    expect(told(listener.heard.slice(1))).toEqual(['list_changed']);
    expect(executor.looks).toBe(1);
  });

  it('notes a fault of ours and looks again', async () => {
    const listener = await listen(WATCHED);
    executor.trouble = new TypeError('a fault');
    executor.version = 2;
    executor.tell('disk');
    await expect.poll(() => served.internal).toEqual([new TypeError('a fault')]);
    await listener.next(1);
    expect(told(listener.heard.slice(1))).toEqual(['updated kv://a']);
  });

  it('drops a client that takes nothing from it', async () => {
    const frame = new TextEncoder().encode(': keepalive\n\n');
    let dropped = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(frame),
      cancel: () => void (dropped = true),
    });
    const stream = new Outflow().begin((flow) => flow.pass(endless));
    await expect.poll(() => dropped).toBe(true);
    await expect(stream.getReader().read()).rejects.toThrow('reads too slowly');
  });

  it('is not begun where the first look fails', async () => {
    executor.trouble = unavailable(1);
    expect(await agent.modern('subscriptions/listen', { notifications: WATCHED })).toMatchObject({
      status: 503,
      error: { data: { code: 'UNAVAILABLE' } },
    });
    expect(executor.followers.size).toBe(0);
  });
});

describe('the age of what a copy answered', () => {
  it('stands beside a resource as it does beside a tool', async () => {
    const replica = { ageMs: 1234, stale: true };
    executor.execute = async () => ({ value: { value: 7 }, replica });
    const { result } = await agent.modern('resources/read', { uri: 'kv://a' });
    expect(result).toMatchObject({
      contents: [{ text: '7' }],
      _meta: { 'svc/replica': replica },
    });
    const older = await agent.legacy('resources/list');
    expect(older.result).toEqual({ resources: [], _meta: { 'svc/replica': replica } });
  });
});
