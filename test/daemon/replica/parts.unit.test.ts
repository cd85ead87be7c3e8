import { describe, expect, it } from 'vitest';
import { PositionWaiters } from '../../../daemon/replica/serve/position-waiters.ts';
import { Backoff } from '../../../daemon/replica/sync/backoff.ts';
import { readEvents } from '../../../daemon/replica/sync/event-stream.ts';
import { blockReasonOf } from '../../../daemon/replica/block-reason.ts';
import { readMessage, readPosition } from '../../../daemon/replica/serve/gateway-position.ts';
import { SourceError } from '../../../daemon/replica/sync/source-error.ts';
import { SyncError, syncEndOf, syncErrorOf } from '../../../daemon/replica/sync/sync-failure.ts';
import { TIMING } from '../../../daemon/replica/sync/timing.ts';
import type { Change } from '../../../shared/kernel/context.ts';
import { Waits } from '../../../shared/kernel/waits.ts';

describe('backoff', () => {
  it('leaves all of a doubling bound to chance', () => {
    const whole = new Backoff({ firstMs: 200, maxMs: 15_000 }, () => 1);
    const pauses = Array.from({ length: 9 }, () => whole.nextMs());
    expect(pauses).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000]);
    whole.reset();
    expect(whole.nextMs()).toBe(200);
    expect(new Backoff({ firstMs: 200, maxMs: 15_000 }, () => 0).nextMs()).toBe(0);
  });

  it('the daemon asks again for a gateway that is away every second at the latest', () => {
    const backoff = new Backoff(TIMING.connect, () => 1);
    const pauses = Array.from({ length: 100 }, () => backoff.nextMs());
    expect(Math.max(...pauses)).toBe(700);
  });

  it('never overflows', () => {
    const backoff = new Backoff({ firstMs: 200, maxMs: 15_000 }, () => 1);
    for (let n = 0; n < 5000; n += 1) backoff.nextMs();
    expect(backoff.nextMs()).toBe(15_000);
  });
});

function eventsOf(...chunks: string[]): Promise<unknown[]> {
  return eventsIn(chunks);
}

async function eventsIn(chunks: Iterable<string>): Promise<unknown[]> {
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  const events = [];
  for await (const event of readEvents(bytes)) events.push(event);
  return events;
}

describe('a stream of events', () => {
  it('is read wherever it is cut', async () => {
    const text =
      ': hello\n\nevent: place\ndata: {"a":"ü"}\n\nevent: time\r\ndata: 1\r\ndata: 2\r\n\r\n';
    const wanted = [
      { name: 'place', data: '{"a":"ü"}' },
      { name: 'time', data: '1\n2' },
    ];
    expect(await eventsOf(text)).toEqual(wanted);
    expect(await eventsOf(...Array.from(text))).toEqual(wanted);
  });

  it('leaves out what is not whole, and refuses what never ends', async () => {
    expect(await eventsOf('data: 1\n\ndata: 2')).toEqual([{ name: 'message', data: '1' }]);
    await expect(eventsOf('data: ', 'x'.repeat(2_000_000))).rejects.toThrow('too long');
    const lines = Array.from({ length: 2000 }, () => `data: ${'x'.repeat(1000)}\n`);
    await expect(eventsOf(...lines)).rejects.toThrow('too long');
  });

  it('is no harder to read in very small pieces', async () => {
    // A million characters, four at a time: looked at anew for each piece, that would take minutes.
    const data = '{"a":1} '.repeat(125_000);
    const pieces = `data: ${data}\n\ndata: 2\n\n`.match(/[^]{1,4}/g) ?? [];
    expect(await eventsIn(pieces)).toEqual([
      { name: 'message', data },
      { name: 'message', data: '2' },
    ]);
  });

  it('may hold what ends a line elsewhere, and lasts for as long as it likes', async () => {
    expect(await eventsOf('data: a\u2028b\rc\n\n')).toEqual([
      { name: 'message', data: 'a\u2028b\rc' },
    ]);
    const events = Array.from(
      { length: 3000 },
      () => `: here\nid: 7\ndata: ${'x'.repeat(1000)}\n\n`,
    );
    expect(await eventsOf(...events)).toHaveLength(3000);
  });
});

describe('what a gateway says', () => {
  const place = {
    epoch: 'abc123',
    generation: 1,
    position: 7,
    schema_version: 3,
    time: '2026-01-02T03:04:05.000Z',
    project: { id: 'prj_1', slug: 'a', name: 'A' },
    server: {
      version: '1.0.0',
      urls: { api: 'a', mcp: 'b', hooks: 'c' },
      channels: ['email'],
      telegram_bot: null,
    },
  };

  it('is understood', () => {
    expect(readPosition(place)).toEqual({
      epoch: 'abc123',
      position: 7,
      time: Date.UTC(2026, 0, 2, 3, 4, 5),
      project: place.project,
      server: {
        version: '1.0.0',
        urls: place.server.urls,
        channels: ['email'],
        telegramBot: null,
        mail: { domain: null, from: null, isKept: false },
      },
      schemaVersion: 3,
    });
  });

  it.each([
    [{ epoch: '../../etc' }],
    [{ epoch: 1 }],
    [{ position: -1 }],
    [{ position: '7' }],
    [{ time: 'soon' }],
    [{ time: '+275760-09-13T00:00:00.000Z' }],
    [{ time: '9999-01-01T00:00:00.000Z' }],
    [{ time: '1969-12-31T23:59:59.999Z' }],
    [{ time: 8.64e15 }],
    [{ time: -1 }],
    [{ project: null }],
    [{ server: { ...place.server, urls: {} } }],
    [{ server: { ...place.server, channels: [1] } }],
    [{ schema_version: null }],
  ])('is refused where it makes no sense: %j', (part) => {
    expect(readPosition({ ...place, ...part })).toBeNull();
  });

  it('may hold changes of kinds to come: then anything may have changed', () => {
    const known: Change[] = [
      { kind: 'event', source: 's', type: 't' },
      { kind: 'request', id: 'req_1' },
      { kind: 'disk' },
      { kind: 'inbox' },
    ];
    const told = { position: 1, time: '2026-01-02T03:04:05.000Z' };
    const heard = (changes: unknown, all?: true): unknown =>
      readMessage('change', { ...told, changes, ...(all && { all }) });
    expect(heard(known)).toMatchObject({ changes: known, all: false });
    expect(heard([...known, { kind: 'moon' }])).toMatchObject({ changes: known, all: true });
    expect(heard([], true)).toMatchObject({ changes: [], all: true });
    expect(readMessage('moon', told)).toBeNull();
    expect(readMessage('end', { code: 'KEY_REVOKED' })).toEqual({
      kind: 'end',
      code: 'KEY_REVOKED',
    });
  });

  it.each([
    [401, 'KEY_REVOKED', 'refused'],
    [403, 'SCOPE_MISSING', 'refused'],
    [403, null, 'unavailable'],
    [404, 'NOT_FOUND', 'missing'],
    [404, null, 'unreachable'],
    [429, 'TOO_MANY_WAITS', 'unavailable'],
    [503, 'UNAVAILABLE', 'unavailable'],
    [502, null, 'unreachable'],
    [418, null, 'unknown'],
  ] as const)('%i with %s is %s', (status, code, fault) => {
    expect(SourceError.ofStatus(status, code, '').fault).toBe(fault);
  });
});

describe('the words of the client', () => {
  it.each([
    ['Failed to checkpoint WAL: database is locked', 'busy'],
    ['unable to truncate WAL', 'busy'],
    ['Sync(PullFrame(401, "{}"))', 'refused'],
    ['Sync(PullFrame(403, "{}"))', 'refused'],
    ['Unauthorized', 'refused'],
    ['Sync(PullFrame(404, "{}"))', 'lost'],
    ['Sync(PullFrame(503, "{}"))', 'network'],
    [
      'Sync(HttpBody(hyper::Error(Body, Custom { kind: UnexpectedEof, error: IncompleteBody })))',
      'network',
    ],
    ['Sync(HttpDispatch(hyper::Error(IncompleteMessage)))', 'network'],
    ['database or disk is full', 'full'],
    ['Sync(HttpDispatch(hyper::Error(Connect, "tcp connect error", Os { code: 111 })))', 'network'],
    [
      'Sync(HttpDispatch(hyper::Error(Connect, "dns error", Custom { kind: Uncategorized })))',
      'network',
    ],
    ['invalid peer certificate: UnknownIssuer', 'network'],
    ['deadline has elapsed', 'network'],
    ['Sync(JsonValue(Object {"error": Object {"code": String("X")}}))', 'network'],
    ['words that nobody has seen yet', 'network'],
    ['WalConflict', 'damaged'],
    ['Sync(VerifyHash(1, 2))', 'damaged'],
    ['database disk image is malformed', 'damaged'],
    ['file is not a database', 'damaged'],
  ])('%s is %s', (words, failure) => {
    expect(syncErrorOf(words).failure).toBe(failure);
  });
});

describe('what the relay says', () => {
  it.each([
    ['The gateway answered 404: "Not Found" \\ database disk image is malformed', 'network'],
    ['', 'network'],
  ] as const)('comes back as it was: %s', (said, failure) => {
    const error = syncErrorOf(`Sync(PullFrame(424, ${JSON.stringify(said)}))`);
    expect([error.failure, error.message]).toEqual([failure, said]);
  });
});

describe('the end of the process that synchronizes', () => {
  it.each([
    [null, 'SIGABRT', 'crashed'],
    [null, 'SIGSEGV', 'crashed'],
    [null, 'SIGKILL', 'ended'],
    [1, null, 'ended'],
  ] as const)('with %s and %s counts as %s', (code, signal, failure) => {
    expect(syncEndOf(code, signal).failure).toBe(failure);
  });
});

describe('what is in the way', () => {
  it('is told as it is, and a disk without room is tried again later', () => {
    const message = 'The disk has no room for the copy.';
    expect(blockReasonOf(new SyncError('full', message))).toEqual({
      state: 'connecting',
      detail: message,
      code: null,
      remedy: 'repair',
    });
  });
});

describe('arrivals', () => {
  it('wake waits when the copy has the change, and no sooner', async () => {
    const waits = new Waits();
    const positionWaiters = new PositionWaiters(waits);
    positionWaiters.has(1);
    let isThere = false;
    const waiting = waits.wait({
      keyId: 'key_1',
      counted: false,
      concerns: (change) => change.kind === 'request' && change.id === 'req_1',
      check: () => Promise.resolve(isThere ? 'there' : null),
      timeoutMs: 20_000,
      signal: new AbortController().signal,
    });
    const changes: Change[] = [{ kind: 'request', id: 'req_1' }];
    positionWaiters.announce({ position: 3, changes, all: false });
    expect(positionWaiters.behind).toBe(2);
    positionWaiters.has(2);
    isThere = true;
    positionWaiters.has(3);
    expect(await waiting).toBe('there');
    expect(positionWaiters.behind).toBe(0);
  });

  it('say whether a position was reached in time', async () => {
    const positionWaiters = new PositionWaiters(new Waits());
    expect(await positionWaiters.reached(1, 0)).toBe(false);
    expect(await positionWaiters.reached(1, 5)).toBe(false);
    const reached = positionWaiters.reached(2, 20_000);
    positionWaiters.has(2);
    expect(await reached).toBe(true);
    expect(await positionWaiters.reached(2, 0)).toBe(true);
  });

  it('forget the positions of another history', () => {
    const positionWaiters = new PositionWaiters(new Waits());
    positionWaiters.has(100);
    positionWaiters.restart(5);
    expect([positionWaiters.position, positionWaiters.target, positionWaiters.behind]).toEqual([
      null,
      5,
      0,
    ]);
    positionWaiters.has(3);
    expect(positionWaiters.behind).toBe(2);
  });
});

/** Counts how often something that concerns nothing but the unknown looks again. */
function looksOf(waits: Waits, ending: AbortSignal): () => number {
  let looks = 0;
  const check = (): Promise<null> => {
    looks += 1;
    return Promise.resolve(null);
  };
  const caller = { keyId: 'key_1', counted: false, timeoutMs: 20_000, signal: ending };
  waits.wait({ ...caller, concerns: () => false, check }).catch(() => undefined);
  return () => looks;
}

describe('arrivals that are told of faster than the copy has them', () => {
  it('are no more than that something may have changed, all the way', async () => {
    const ending = new AbortController();
    const waits = new Waits();
    const looks = looksOf(waits, ending.signal);
    const positionWaiters = new PositionWaiters(waits);
    positionWaiters.has(0);
    const changes: Change[] = [{ kind: 'request', id: 'req_1' }];
    for (let position = 1; position <= 600; position += 1) {
      positionWaiters.announce({ position, changes, all: false });
    }
    const seen: number[] = [];
    const reaches = async (position: number): Promise<void> => {
      const before = looks();
      positionWaiters.has(position);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(looks() - before);
    };
    await new Promise((resolve) => setImmediate(resolve));
    // 501 of them, with a change each, are more than a thousand; the rest are known one by one.
    await reaches(0);
    await reaches(1);
    await reaches(300);
    await reaches(300);
    await reaches(501);
    await reaches(600);
    ending.abort();
    expect(seen).toEqual([0, 1, 1, 0, 1, 0]);
  });

  it('are forgotten with their history', async () => {
    const ending = new AbortController();
    const waits = new Waits();
    const looks = looksOf(waits, ending.signal);
    const positionWaiters = new PositionWaiters(waits);
    for (let position = 1; position <= 2000; position += 1) {
      positionWaiters.announce({ position, changes: [], all: true });
    }
    positionWaiters.restart(5000);
    await new Promise((resolve) => setImmediate(resolve));
    const before = looks();
    positionWaiters.has(1500);
    await new Promise((resolve) => setImmediate(resolve));
    ending.abort();
    expect(looks() - before).toBe(0);
  });
});
