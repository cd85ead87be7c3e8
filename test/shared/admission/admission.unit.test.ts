import { describe, expect, it } from 'vitest';
import { Admission, type TurnedAway } from '../../../shared/admission/admission.ts';
import {
  BODIES_MAX_BYTES,
  CONNECTION_LIMITS,
  DOOR_LIMITS,
  HELD_LIMITS,
  IN_LINE_MAX,
  PLACE_LIMITS,
  STRANGERS_LIMITS,
  UNREAD_LIMITS,
  UPLOAD_WINDOW_BYTES,
  WAITING_LIMITS,
  type HeldKind,
} from '../../../shared/admission/limits.ts';
import { asServiceError, type ServiceError } from '../../../shared/lib/errors.ts';

const MIB = 1024 * 1024;

function refusalOf(work: () => unknown): ServiceError | null {
  try {
    work();
    return null;
  } catch (error) {
    return asServiceError(error);
  }
}

describe('the limits', () => {
  it('are these', () => {
    expect(BODIES_MAX_BYTES).toBe(256 * MIB);
    expect(UPLOAD_WINDOW_BYTES).toBe(65_536);
    expect(DOOR_LIMITS).toEqual({
      anonymous: { total: 16 * MIB, address: 524_288, leavesRoom: true },
      webhook: { total: 128 * MIB, address: 64 * MIB, project: 32 * MIB, leavesRoom: true },
      mail: { total: 100 * MIB, address: 50 * MIB, project: 50 * MIB },
      api: { total: 192 * MIB, address: 64 * MIB, project: 32 * MIB, leavesRoom: true },
      upload: { total: 32 * MIB, address: 8 * MIB, project: 4 * MIB, leavesRoom: true },
    });
    expect(CONNECTION_LIMITS).toEqual({
      total: 16_384,
      address: 4096,
      project: 4096,
      leavesRoom: true,
    });
    expect(PLACE_LIMITS).toEqual({ total: 256, project: 64, leavesRoom: true });
    expect(STRANGERS_LIMITS).toEqual({ total: 128, address: 64, leavesRoom: true });
    expect(WAITING_LIMITS).toEqual({
      total: 128 * MIB,
      address: 32 * MIB,
      project: 32 * MIB,
      leavesRoom: true,
    });
    expect(UNREAD_LIMITS).toEqual({
      total: 256 * MIB,
      address: 64 * MIB,
      project: 64 * MIB,
      leavesRoom: true,
    });
    expect(IN_LINE_MAX).toBe(8);
    expect(HELD_LIMITS).toEqual({
      waits: { total: 8192, key: 10, project: 25 },
      subscriptions: { total: 8192, key: 25, project: 100 },
      'streams of changes': { total: 8192, key: 500, project: 1000 },
      'live pages': { total: 8192, session: 6, project: 100 },
    });
  });

  it('keep 80 MB for calls with a key', () => {
    const admission = Admission.hosted();
    const strangers = (['anonymous', 'webhook', 'upload'] as const).flatMap((door) =>
      Array.from({ length: 500 }, (_, n) =>
        admission.openBody(door, { address: `${n}`, project: `${n}` }),
      ),
    );
    // As much as each gets, in pieces of the size of a read.
    for (const account of strangers) while (account.take(65_536) === null);
    const known = Array.from({ length: 10 }, (_, n) =>
      admission.openBody('api', { address: `${n}`, project: `${n}` }),
    );
    expect(known.map((account) => account.take(8 * MIB))).toEqual(known.map(() => null));
    for (const account of [...strangers, ...known]) account.close();
    expect(admission.bodyBytes('api') + admission.bodyBytes('webhook')).toBe(0);
  });
});

describe('a refusal', () => {
  it('is the own fault of a project beyond its share, and of nobody where a door is full', () => {
    const turnedAway: TurnedAway[] = [];
    const admission = Admission.hosted((one) => turnedAway.push(one));
    const holder = { address: '192.0.2.1', project: 'prj_a' };
    const own = admission.openBody('webhook', holder);
    expect(own.take(32 * MIB)).toBeNull();
    const refused = own.take(1);
    expect(refused?.status).toBe(429);
    expect(refused?.body()).toEqual({
      error: {
        code: 'RATE_LIMITED',
        message: 'Too many requests.',
        hint: 'This project has 33554432 of 33554432 bytes of bodies in transfer: repeat it in 1 second.',
        details: { retry_after: 1, limit: 33_554_432, used: 33_554_432, of: 'project' },
      },
    });
    const shared = admission.openBody('webhook', { address: '192.0.2.2', project: 'prj_b' });
    const full = shared.take(97 * MIB);
    expect(full?.status).toBe(503);
    expect(full?.body().error).toMatchObject({
      code: 'UNAVAILABLE',
      details: { retry_after: 1, limit: 128 * MIB, used: 32 * MIB, of: 'door' },
    });
    expect(full?.headers()).toEqual({ Connection: 'close', 'Retry-After': '1' });
    expect(turnedAway).toEqual([
      { at: 'webhook', reason: 'project', holder },
      { at: 'webhook', reason: 'door', holder: { address: '192.0.2.2', project: 'prj_b' } },
    ]);
  });

  it.each([
    ['streams of changes', 'key', 500],
    ['streams of changes', 'project', 1000],
    ['live pages', 'session', 6],
    ['live pages', 'project', 100],
    ['subscriptions', 'key', 25],
    ['waits', 'key', 10],
    ['waits', 'project', 25],
  ] as const)('of %s beyond those of a %s counts them', (kind: HeldKind, of, limit) => {
    const admission = Admission.hosted();
    const holder = (n: number) => ({ project: 'prj_a', key: '', session: '', [of]: 'one', n });
    const spread = (n: number) =>
      of === 'project' ? { ...holder(n), key: `${n}`, session: `${n}` } : holder(n);
    const leave = Array.from({ length: limit }, (_, n) => admission.hold(kind, spread(n)));
    expect(refusalOf(() => admission.hold(kind, spread(limit)))?.body()).toEqual({
      error: {
        code: 'TOO_MANY_WAITS',
        message: 'Too many concurrent waits.',
        hint: `${limit} of ${limit} ${kind} of this ${of} are open: let one end first.`,
        details: { kind: of, limit, used: limit },
      },
    });
    // Only the first of two calls counts.
    leave[0]?.();
    leave[0]?.();
    leave.push(admission.hold(kind, spread(0)));
    expect(refusalOf(() => admission.hold(kind, spread(0)))?.code).toBe('TOO_MANY_WAITS');
  });

  it('is UNAVAILABLE where all projects together hold too many answers open', () => {
    const admission = Admission.hosted();
    for (let n = 0; n < 8192; n += 1) admission.hold('waits', { key: `${n}`, project: `${n}` });
    const refused = refusalOf(() => admission.hold('waits', { key: 'one', project: 'more' }));
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', details: { retry_after: 1 } });
  });
});
