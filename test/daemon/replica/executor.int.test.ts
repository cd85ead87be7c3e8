import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asServiceError, ServiceError, unavailable } from '../../../shared/lib/errors.ts';
import type { ProjectReader } from '../../../shared/store/project-store.ts';
import { operationNamed } from '../../surface/scenario.ts';
import { ExecutorStage, silence } from './executor-stage.ts';

const HOUR_MS = 3_600_000;

let stage: ExecutorStage;

beforeAll(async () => {
  stage = await ExecutorStage.open();
});
beforeEach(() => stage.reset());
afterAll(() => stage.gateway.stop());

const read = () => stage.run('kv_get', { key: 'color' });
const write = () => stage.run('kv_set', { key: 'color', value: 'red' });

describe('a read', () => {
  it('comes from a live copy, which says how old it is', async () => {
    expect(await read()).toMatchObject({
      value: { key: 'color', value: 'blue' },
      replica: { ageMs: 5, stale: false },
    });
    expect(stage.askedNames).toEqual([]);
  });

  it('goes to the gateway while the copy is not live', async () => {
    stage.replica.fresh = { usable: 'no', ageMs: 9_000 };
    stage.acceptKeys('new');
    expect(await read()).toEqual({ value: 'new' });
    // Its key is in the copy, and the gateway looks at it again.
    expect(stage.askedNames).toEqual(['kv_get']);
  });

  it('goes to the gateway when the copy does not come to have what was written', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.isSettled = false;
    expect(await stage.run('kv_get', { key: 'color' }, caller)).toEqual({
      value: 'from the gateway',
    });
  });

  it('comes from the copy, marked, while the gateway is known to be away', async () => {
    stage.replica.fresh = { usable: 'stale', ageMs: 2 * HOUR_MS };
    expect(await read()).toMatchObject({
      value: { value: 'blue' },
      replica: { ageMs: 2 * HOUR_MS, stale: true },
    });
    expect(stage.askedNames).toEqual([]);
  });

  it('after a write that the copy lacks comes from the copy, marked, while the gateway is known to be away', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.isSettled = false;
    const again = () => stage.run('kv_get', { key: 'color' }, caller);
    expect(await again()).toEqual({ value: 'from the gateway' });
    stage.replica.fresh = { usable: 'no', ageMs: 12_000 };
    expect(await again()).toEqual({ value: 'from the gateway' });
    // Questions get no answer, or none in time. Whether the stream has ended makes no difference.
    stage.replica.contact.isSilent = true;
    for (const usable of ['live', 'stale', 'no'] as const) {
      stage.replica.fresh = { usable, ageMs: 12_000 };
      expect(await again()).toMatchObject({ value: { value: 'blue' }, replica: { stale: true } });
    }
    expect(stage.asked.map(({ timeoutMs }) => timeoutMs)).toEqual([2000, 2000]);
  });

  it('after a write that the copy lacks waits for nobody when the gateway ceases to answer meanwhile', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.isSettled = false;
    stage.replica.onSettled = (times) => {
      if (times === 3) stage.replica.contact.isSilent = true;
    };
    expect(await stage.run('kv_get', { key: 'color' }, caller)).toMatchObject({
      value: { value: 'blue' },
      replica: { stale: true },
    });
    expect([stage.replica.settledAsked, stage.askedNames]).toEqual([3, []]);
  });

  it('that goes to the gateway tells the copy whether that is there', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.fresh = { usable: 'no', ageMs: 9_000 };
    const again = () => stage.run('kv_get', { key: 'color' }, caller);
    await again();
    stage.answerOf = async () => {
      throw silence(false);
    };
    await again();
    stage.answerOf = async () => {
      throw new ServiceError('RATE_LIMITED', { details: { retry_after: 3 } });
    };
    await expect(again()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(stage.replica.heard).toEqual(['answer', 'late', 'answer']);
  });

  it('comes from the copy, marked, when the gateway turns out to be away', async () => {
    stage.replica.fresh = { usable: 'no', ageMs: 6_000 };
    stage.answerOf = async () => {
      throw silence(false);
    };
    expect(await read()).toMatchObject({ value: { value: 'blue' }, replica: { stale: true } });
    expect(stage.askedNames).toEqual(['kv_get']);
    // It does not wait as long for the gateway as where only that can answer.
    expect(stage.asked[0]?.timeoutMs).toBe(200);
  });

  it('is refused rather than answered from a copy more than a day old', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.fresh = { usable: 'no', ageMs: 24 * HOUR_MS + 1 };
    stage.answerOf = async () => {
      throw silence(false);
    };
    await expect(stage.run('kv_get', { key: 'color' }, caller)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
      hint: "The gateway https://gateway.example can't be reached (x). Wait.",
      details: { gateway: 'https://gateway.example', retry_after: 5 },
    });
  });

  it('goes to the gateway when the copy is lost under it', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.store = {
      read: () => Promise.reject(unavailable(1)),
    } as unknown as ProjectReader;
    expect(await stage.run('kv_get', { key: 'color' }, caller)).toEqual({
      value: 'from the gateway',
    });
  });

  it('is checked before anybody is asked', async () => {
    await expect(stage.run('request_status', { request_id: 'req_x' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    expect(stage.askedNames).toEqual([]);
  });

  it('of an id that the copy does not have yet goes to the gateway', async () => {
    const request_id = 'req_01j9z3k4m5n6p7q8r9s0t1v2w3';
    expect(await stage.run('request_status', { request_id })).toEqual({
      value: 'from the gateway',
    });
    const after = 'evt_01j9z3k4m5n6p7q8r9s0t1v2w3';
    expect(await stage.run('inbox_wait', { after, timeout_seconds: 1 })).toEqual({
      value: 'from the gateway',
    });
  });

  it('of an id that the copy does not have is refused by it, marked, where questions to the gateway get no answer', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.contact.isSilent = true;
    const request_id = 'req_01j9z3k4m5n6p7q8r9s0t1v2w3';
    const error = await stage
      .run('request_status', { request_id }, caller)
      .catch((thrown: unknown) => asServiceError(thrown));
    expect(error).toMatchObject({ code: 'NOT_FOUND' });
    expect(error instanceof ServiceError && error.headers()).toMatchObject({
      'X-Service-Stale': 'true',
    });
    expect(stage.askedNames).toEqual([]);
  });

  it('of an id that nobody knows is refused also by the copy of a gateway that is away', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.fresh = { usable: 'stale', ageMs: 2 * HOUR_MS };
    const request_id = 'req_01j9z3k4m5n6p7q8r9s0t1v2w3';
    const error = await stage
      .run('request_status', { request_id }, caller)
      .catch((thrown: unknown) => asServiceError(thrown));
    expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    // It is an answer of the copy like any other, and marked as such.
    expect(error instanceof ServiceError && [error.hint, error.headers()]).toEqual([
      "No request req_01j9z3k4m5n6p7q8r9s0t1v2w3 in this project. The gateway didn't answer: this is what the copy on this machine knew 7200 s ago. Repeat it when the gateway is back; see `svc status`.",
      { 'X-Service-Replica-Age': '7200.000', 'X-Service-Stale': 'true' },
    ]);
    expect(stage.askedNames).toEqual([]);
  });

  it('from a copy that ceases to be live meanwhile is marked', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    const { store } = stage.replica;
    if (!store) throw new Error('There is no copy.');
    const ceasing = {
      read: (fn: Parameters<ProjectReader['read']>[0]) => {
        stage.replica.fresh = { usable: 'no', ageMs: 5_001 };
        return store.read(fn);
      },
    };
    stage.replica.store = ceasing as unknown as ProjectReader;
    expect(await stage.run('kv_get', { key: 'color' }, caller)).toMatchObject({
      replica: { ageMs: 5_001, stale: true },
    });
  });

  it('from a copy that is removed meanwhile goes to the gateway', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    const { store } = stage.replica;
    if (!store) throw new Error('There is no copy.');
    const vanishing = {
      read: (fn: Parameters<ProjectReader['read']>[0]) => {
        stage.replica.fresh = { usable: 'no', ageMs: Infinity };
        return store.read(fn);
      },
    };
    stage.replica.store = vanishing as unknown as ProjectReader;
    expect(await stage.run('kv_get', { key: 'color' }, caller)).toEqual({
      value: 'from the gateway',
    });
  });

  it('is the error of the gateway where that refuses it', async () => {
    stage.replica.isSettled = false;
    stage.answerOf = async () => {
      throw new ServiceError('RATE_LIMITED', { details: { retry_after: 3 } });
    };
    await expect(read()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('of what is not in rows goes to the gateway', async () => {
    expect(await stage.run('file_get', { path: 'a' })).toEqual({ value: 'from the gateway' });
    expect(await stage.run('usage', {})).toEqual({ value: 'from the gateway' });
    expect(stage.askedNames).toEqual(['file_get', 'usage']);
  });
});

describe('a write', () => {
  it('goes to the gateway with the input and the key of its caller', async () => {
    stage.answerOf = async () => ({ value: { version: 2 }, position: 41 });
    expect(await write()).toEqual({ value: { version: 2 }, position: 41 });
    expect(stage.asked[0]).toMatchObject({
      input: { key: 'color', value: 'red' },
      credentials: { authorization: `Bearer ${stage.gateway.apiKey}`, userAgent: 'codex/1' },
    });
    expect(stage.replica.written).toEqual([41]);
  });

  it('is checked before it goes', async () => {
    await expect(stage.run('kv_set', { key: '' })).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    const reader = await stage.gateway.key('inbox:read');
    const caller = await stage.executor.authenticate(stage.credentials(reader));
    await expect(stage.run('kv_set', { key: 'a', value: 1 }, caller)).rejects.toMatchObject({
      code: 'SCOPE_MISSING',
      details: { scope: 'disk' },
    });
    expect(stage.askedNames).toEqual([]);
  });

  it.each([
    ['whose answer was lost counts as done, up to wherever the gateway is', silence(true), [null]],
    ['that was broken off counts as done, too', new DOMException('gone', 'AbortError'), [null]],
    ['that was not sent does not', silence(false), []],
    [
      'that was refused for a state counts, as the copy may not know it',
      new ServiceError('LEASE_EXPIRED'),
      [null],
    ],
    ['that was refused as such does not', new ServiceError('RATE_LIMITED'), []],
    [
      'that was refused for a limit counts, as the ledger has it',
      new ServiceError('TOO_MANY_PENDING_REQUESTS'),
      [null],
    ],
    ['that failed there counts', new ServiceError('INTERNAL'), [null]],
  ])('%s', async (_, error, written) => {
    stage.answerOf = async () => {
      throw error;
    };
    await expect(write()).rejects.toBe(error);
    expect(stage.replica.written).toEqual(written);
  });
});

describe('without a copy', () => {
  it('all goes to the gateway', async () => {
    stage.executor = stage.executorWith(() => null);
    stage.acceptKeys(1);
    expect(await read()).toEqual({ value: 1 });
    expect(await stage.run('kv_set', { key: 'a', value: 1 })).toEqual({ value: 1 });
    expect(stage.askedNames).toEqual(['whoami', 'kv_get', 'kv_set']);
    expect(stage.executor.meter()).toEqual({});
  });
});

describe('a wait', () => {
  it('looks at the copy again when that has something new', async () => {
    await stage.gateway.addSource({ name: 'open' });
    const { body } = await stage.gateway.call<{ items: { url: string }[] }>('GET', '/v1/sources');
    const waiting = stage.run('inbox_wait', { timeout_seconds: 30 });
    await expect.poll(() => stage.replica.waits.size).toBe(1);
    await stage.gateway.deliver(body.items[0]?.url ?? '', '{"n":1}');
    stage.replica.waits.notify({ kind: 'event', source: 'open', type: 'webhook.received' });
    expect(await waiting).toMatchObject({
      value: { event: { source: 'open' } },
      replica: { stale: false },
    });
  });

  it('goes on at the gateway when the copy hears of nothing any more', async () => {
    const waiting = stage.run('inbox_wait', { timeout_seconds: 100, type: 'never' });
    await expect.poll(() => stage.replica.waits.size).toBe(1);
    stage.replica.fresh = { usable: 'no', ageMs: 9_000 };
    expect(await waiting).toEqual({ value: 'from the gateway' });
    expect(stage.replica.waits.size).toBe(0);
    const rest = stage.asked[0]?.input as Record<string, unknown> | undefined;
    expect(rest).toMatchObject({ type: 'never' });
    expect(rest?.['timeout_seconds']).toBeGreaterThan(60);
    expect(rest?.['timeout_seconds']).toBeLessThan(100);
  });

  it('goes on at the copy, marked, while the gateway is known to be away', async () => {
    const waiting = stage.run('inbox_wait', { timeout_seconds: 3, type: 'never' });
    await expect.poll(() => stage.replica.waits.size).toBe(1);
    stage.replica.fresh = { usable: 'stale', ageMs: 9_000 };
    expect(await waiting).toEqual({
      value: { event: null },
      replica: { ageMs: 9_000, stale: true },
    });
    expect(stage.askedNames).toEqual([]);
  });

  it('that began in an outage is not marked when it ends on a live copy', async () => {
    stage.replica.fresh = { usable: 'stale', ageMs: 9_000 };
    const waiting = stage.run('inbox_wait', { timeout_seconds: 2, type: 'never' });
    await expect.poll(() => stage.replica.waits.size).toBe(1);
    stage.replica.fresh = { usable: 'live', ageMs: 5 };
    expect(await waiting).toEqual({ value: { event: null }, replica: { ageMs: 5, stale: false } });
  });

  it('ends with the daemon as at its timeout', async () => {
    const waiting = stage.run('inbox_wait', { timeout_seconds: 100, type: 'never' });
    await expect.poll(() => stage.replica.waits.size).toBe(1);
    stage.executor.endWaits();
    expect(await waiting).toMatchObject({ value: { event: null } });
  });

  it('that the gateway holds ends with the daemon, too', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    stage.replica.fresh = { usable: 'no', ageMs: 1 };
    stage.answerOf = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    stage.replica.store = null;
    const waiting = stage.run('inbox_wait', { timeout_seconds: 100 }, caller);
    await expect.poll(() => stage.askedNames).toEqual(['inbox_wait']);
    stage.executor.endWaits();
    await expect(waiting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('ends at the gateway when its caller goes', async () => {
    const caller = await stage.executor.authenticate(stage.credentials());
    let wasAborted = false;
    stage.answerOf = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          wasAborted = true;
          reject(signal.reason as Error);
        });
      });
    const gone = new AbortController();
    const operation = operationNamed('ask_human');
    const asking = stage.executor.execute(operation, operation.example, caller, gone.signal);
    await expect.poll(() => stage.askedNames).toEqual(['ask_human']);
    gone.abort(new Error('gone'));
    await expect(asking).rejects.toThrow('gone');
    expect(wasAborted).toBe(true);
    expect(stage.replica.written).toEqual([null]);
  });
});
