import * as fc from 'fast-check';
import { POLICIES, type Choice, type PolicyName } from './request-model.ts';
import type { Asking } from './project-model.ts';

/** Which lease a call names: none, the newest given for the event, one before that, or one of another event. */
export type Which = 'none' | 'newest' | 'older' | 'other';

/** Which event: the nth newest that can be pulled in this state, or of all if none is. `worn` has failed the most. */
export interface Pick {
  readonly among: 'all' | 'pending' | 'worn' | 'claimed' | 'done' | 'dead' | 'none';
  readonly nth: number;
}

/** A worker's number (beyond the last: the key revoked last), or the holder of the event's lease. */
export type Who = number | 'holder';

interface Calling {
  readonly key: Who;
  /** An Idempotency-Key of few, so that they meet. */
  readonly once: string | null;
}

/** A call about an event. */
export interface OnEvent extends Calling {
  readonly event: Pick;
  readonly lease: Which;
  readonly seconds: number;
}

/** A write that a crash may interrupt, and that is repeated after it. */
export type Interrupted = 'claim' | 'ack' | 'nack' | 'ask' | 'deliver' | 'decide';

interface Brought {
  readonly source: string;
  readonly body: string;
  readonly providerId: string | null;
}

interface Ask extends Calling {
  readonly asking: Asking;
}

interface Decision {
  /** Counted from the newest pending one, or of all if none is pending; below 0, of all. */
  readonly request: number;
  readonly channel: number;
  readonly choice: Choice;
}

/** What each kind of step says. */
export interface Steps {
  deliver: Brought;
  'deliver at once': Brought;
  /** Repeats an earlier delivery: at once, or around the end of the time it's remembered. */
  'deliver again': { readonly nth: number; readonly besideMs: number | null };
  claim: OnEvent;
  ack: OnEvent;
  nack: OnEvent;
  'give up': OnEvent;
  extend: OnEvent;
  requeue: OnEvent;
  'claim at once': OnEvent;
  'repeat at once': OnEvent;
  wait: { readonly key: Who; readonly source: string | null };
  waits: { readonly key: Who };
  ask: Ask;
  'ask and wait': Ask;
  'ask too much': { readonly key: Who };
  propose: Calling & { readonly policy: PolicyName };
  /** Proposes a policy, and has it approved. */
  adopt: { readonly policy: PolicyName };
  decide: Decision;
  'decide at once': Decision & { readonly other: Choice };
  status: { readonly key: Who; readonly request: number };
  repeat: object;
  /** Whether the receiver of the route takes what comes from now on. */
  receiver: { readonly isUp: boolean };
  /** Moves to the time of the next due push, `times` times. */
  'push on': { readonly times: number };
  'retry route': object;
  /** Removes the route, or adds one if there is none. */
  route: object;
  /** The number of a worker. */
  revoke: { readonly key: number };
  clock: { readonly ms: number };
  'clock back': { readonly ms: number };
  /** To a time at which something is over, or just before or behind it. */
  edge: { readonly nth: number; readonly besideMs: number };
  tick: object;
  restart: object;
  look: object;
  /** Dies this many turns of the event loop after the call begins. */
  crash: OnEvent &
    Brought &
    Decision & { readonly asking: Asking; readonly during: Interrupted; readonly turns: number };
}

export type StepKind = keyof Steps;

/** One step as plain data: it means something whatever came before, so that a list of them can be made shorter. */
export type Step = { [K in StepKind]: { readonly kind: K } & Steps[K] }[StepKind];

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;

const key = fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 2, 2, 3);
const once = fc.constantFrom(null, null, null, 'a', 'b', 'c');
const holder = fc.constantFrom<Who>('holder', 'holder', 'holder', 'holder', 0, 1, 2, 3);
const event = (...among: Pick['among'][]) =>
  fc.record<Pick>({
    among: fc.constantFrom(...among, ...among, ...among, 'all', 'none'),
    nth: fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7),
  });
const lease = fc.constantFrom<Which>(
  'none',
  'none',
  'newest',
  'newest',
  'newest',
  'newest',
  'older',
  'other',
);
const seconds = fc.constantFrom(30, 30, 60, 300, 3600);
const request = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, -1, -2, -3, -9);
const channel = fc.nat({ max: 2 });
const choice = fc.record<Choice>({
  verb: fc.constantFrom(
    'approve',
    'approve',
    'approve',
    'deny',
    'option',
    'answer',
    'needs_context',
  ),
  text: fc.constantFrom('', 'yes', 'no'),
});
const policies = Object.keys(POLICIES) as PolicyName[];

const onPending = { key, once, event: event('pending', 'worn', 'worn'), lease, seconds };
const onClaimed = { key: holder, once, event: event('claimed'), lease, seconds };
const onDead = { key, once, event: event('dead'), lease, seconds };
const brought = {
  source: fc.constantFrom('open', 'open', 'other'),
  body: fc.nat({ max: 5 }).map((nth) => `body ${nth}`),
  providerId: fc.option(
    fc.nat({ max: 8 }).map((nth) => `id ${nth}`),
    { nil: null, freq: 4 },
  ),
};
const decision = { request, channel, choice };
const asking = fc.record<Asking>({
  kind: fc.constantFrom('approval', 'approval', 'question'),
  action: fc.constantFrom('pay.refund', 'pay.refund', 'deploy', 'other'),
  amount: fc.constantFrom(null, 100, 100, 101, 1000, 1001),
  minutes: fc.constantFrom(1, 5, 60, 24 * 60),
  hasOption: fc.boolean(),
  approvers: fc.constantFrom([], ['ana'], ['ben'], ['owner', 'ana']),
});

const back = fc.constantFrom(
  1,
  SECOND_MS,
  60 * SECOND_MS,
  60 * SECOND_MS + 1,
  3600 * SECOND_MS,
  DAY_MS,
);
const ahead = fc.constantFrom(
  1,
  240_000,
  3_600_000,
  3_600_000,
  DAY_MS,
  DAY_MS,
  30 * DAY_MS,
  31 * DAY_MS,
);

function of<K extends StepKind>(
  weight: number,
  kind: K,
  fields: { readonly [F in keyof Steps[K]]: fc.Arbitrary<Steps[K][F]> },
): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  const rest = fc.record<Steps[K]>(fields);
  return { weight, arbitrary: rest.map((one) => ({ kind, ...one }) as unknown as Step) };
}

export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  of(64, 'deliver', brought),
  of(8, 'deliver at once', brought),
  of(24, 'deliver', { ...brought, source: fc.constant('pushed') }),
  of(8, 'receiver', { isUp: fc.constantFrom(true, false, false) }),
  of(20, 'push on', { times: fc.constantFrom(1, 1, 2, 6) }),
  of(6, 'retry route', {}),
  of(3, 'route', {}),
  of(12, 'deliver again', {
    nth: fc.nat({ max: 4 }),
    besideMs: fc.constantFrom(null, null, null, -1, 0, 1),
  }),
  of(80, 'claim', onPending),
  of(32, 'ack', onClaimed),
  of(8, 'ack', { ...onClaimed, event: event('done') }),
  of(56, 'nack', onClaimed),
  of(8, 'give up', onClaimed),
  of(24, 'extend', onClaimed),
  of(16, 'requeue', onDead),
  of(8, 'claim at once', onPending),
  of(8, 'repeat at once', onPending),
  of(12, 'wait', { key, source: fc.constantFrom(null, 'open', 'other', 'pushed') }),
  of(4, 'waits', { key }),
  of(40, 'ask', { key, once, asking }),
  of(8, 'ask and wait', { key, once, asking }),
  of(10, 'adopt', { policy: fc.constantFrom('tiers', ...policies) }),
  of(12, 'propose', { key, once, policy: fc.constantFrom(...policies) }),
  of(48, 'decide', decision),
  of(12, 'decide at once', { ...decision, other: choice }),
  of(8, 'status', { key, request }),
  of(16, 'repeat', {}),
  of(4, 'revoke', { key: fc.nat({ max: 2 }) }),
  of(12, 'clock', { ms: ahead }),
  of(48, 'clock', { ms: fc.constantFrom(1000, 29_999, 30_000, 30_001, 60_000) }),
  of(8, 'clock back', { ms: back }),
  of(32, 'edge', {
    nth: fc.constantFrom(0, 0, 0, 1, 2, 3, 6),
    besideMs: fc.constantFrom(-1, 0, 0, 1),
  }),
  of(20, 'tick', {}),
  of(8, 'restart', {}),
  of(8, 'look', {}),
  // Rare, because it takes as long as a hundred others.
  of(1, 'ask too much', { key }),
  of(8, 'crash', {
    during: fc.constantFrom<Interrupted>('claim', 'ack', 'nack', 'ask', 'deliver', 'decide'),
    turns: fc.nat({ max: 6 }),
    asking,
    ...onClaimed,
    event: event('claimed', 'pending'),
    ...brought,
    ...decision,
  }),
);
