import type { BudgetLimits } from './budget.ts';
import {
  CHANGE_STREAMS_PER_KEY,
  CHANGE_STREAMS_PER_PROJECT,
  MAIL_MAX_BYTES,
  SUBSCRIPTIONS_PER_KEY,
  SUBSCRIPTIONS_PER_PROJECT,
  UI_STREAMS_PER_PROJECT,
  UI_STREAMS_PER_SESSION,
  WAITS_PER_KEY,
  WAITS_PER_PROJECT,
} from '../lib/limits.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The ways in. A request is anonymous until it proves a key, a session or the token of a project. */
export const DOORS = ['anonymous', 'webhook', 'mail', 'api', 'upload'] as const;
export type Door = (typeof DOORS)[number];

/** The bytes of all bodies in transfer. The mails of a mail server are apart, because each may be of 25 MB. */
export const BODIES_MAX_BYTES = 256 * MIB;

/**
 * The share of each door. All but `api` together leave 80 MB, which only calls with a valid key can use: writes are
 * taken however many bodies others hold.
 */
export const DOOR_LIMITS: Readonly<Record<Door, BudgetLimits>> = {
  anonymous: { total: 16 * MIB, address: 512 * KIB, leavesRoom: true },
  webhook: { total: 128 * MIB, address: 64 * MIB, project: 32 * MIB, leavesRoom: true },
  mail: { total: 4 * MAIL_MAX_BYTES, address: 2 * MAIL_MAX_BYTES, project: 2 * MAIL_MAX_BYTES },
  api: { total: 192 * MIB, address: 64 * MIB, project: 32 * MIB, leavesRoom: true },
  upload: { total: 32 * MIB, address: 8 * MIB, project: 4 * MIB, leavesRoom: true },
};

/** What an upload holds while its bytes go to the disk or the bucket. */
export const UPLOAD_WINDOW_BYTES = 64 * KIB;

/** Connections; behind a trusted proxy, requests under way. */
export const CONNECTION_LIMITS = {
  total: 16_384,
  address: 4096,
  project: 4096,
  leavesRoom: true,
} as const satisfies BudgetLimits;

/** Requests that are being worked on. The others wait in turn. */
export const PLACE_LIMITS = {
  total: 256,
  project: 64,
  leavesRoom: true,
} as const satisfies BudgetLimits;

/** The same, of callers that haven't shown a valid key, session or hook address lately. */
export const STRANGERS_LIMITS = {
  total: 128,
  address: 64,
  leavesRoom: true,
} as const satisfies BudgetLimits;

/** Answers that are complete here, and that their callers haven't read. */
export const UNREAD_LIMITS = {
  total: 256 * MIB,
  address: 64 * MIB,
  project: 64 * MIB,
  leavesRoom: true,
} as const satisfies BudgetLimits;

/** Long reads of one project that wait while one runs; and searches. */
export const IN_LINE_MAX = 8;

/** A request counts once more for each so many bytes of its body, and at most this often. */
export const PLACE_BODY_BYTES = 32 * KIB;
export const PLACES_MAX = 8;

/** What requests that wait for their turn hold. */
export const WAITING_LIMITS = {
  total: 128 * MIB,
  address: 32 * MIB,
  project: 32 * MIB,
  leavesRoom: true,
} as const satisfies BudgetLimits;

/** What one of them holds besides its body. */
export const WAITING_HEAD_BYTES = 8 * KIB;
/** Requests that a connection may send before it has the answer to the first. Node reads on, so more of them end it. */
export const AHEAD_MAX = 64;
/** Node reads this much of a body before we take it. */
export const WAITING_BODY_BYTES = 64 * KIB;

/** Answers that are held open. Each kind has at most half of the connections. */
const HELD_MAX = CONNECTION_LIMITS.total / 2;
export const HELD_LIMITS = {
  waits: { total: HELD_MAX, key: WAITS_PER_KEY, project: WAITS_PER_PROJECT },
  subscriptions: {
    total: HELD_MAX,
    key: SUBSCRIPTIONS_PER_KEY,
    project: SUBSCRIPTIONS_PER_PROJECT,
  },
  'streams of changes': {
    total: HELD_MAX,
    key: CHANGE_STREAMS_PER_KEY,
    project: CHANGE_STREAMS_PER_PROJECT,
  },
  'live pages': {
    total: HELD_MAX,
    session: UI_STREAMS_PER_SESSION,
    project: UI_STREAMS_PER_PROJECT,
  },
} as const satisfies Readonly<Record<string, BudgetLimits>>;

export type HeldKind = keyof typeof HELD_LIMITS;
