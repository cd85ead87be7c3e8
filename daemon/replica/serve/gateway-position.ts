import type { Change } from '../../../shared/kernel/context.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import type { ReplicaInfo } from '../status.ts';

/** ISO dates end with the year 9999; that last year leaves room for calculations with a time. */
const TIMES_END_MS = Date.UTC(9999, 0);

/** A gateway's position and its description of itself. */
export interface GatewayPosition extends ReplicaInfo {
  readonly epoch: string;
  readonly position: number;
  /** The gateway's clock, in milliseconds since 1970. */
  readonly time: number;
}

/** A message of the change stream. */
export type StreamMessage =
  | {
      readonly kind: 'place';
      readonly epoch: string;
      readonly position: number;
      readonly time: number;
    }
  | {
      readonly kind: 'change';
      readonly position: number;
      readonly time: number;
      readonly changes: readonly Change[];
      readonly all: boolean;
    }
  | { readonly kind: 'time'; readonly position: number; readonly time: number }
  /** The stream is about to end. */
  | { readonly kind: 'end'; readonly code: string };

/** The answer of `GET /v1/replica`; null for anything else. */
export function readPosition(value: unknown): GatewayPosition | null {
  if (!isObject(value)) return null;
  const { epoch, position, schema_version: schemaVersion } = value;
  const time = readTime(value['time']);
  const info = readInfo(value['project'], value['server'], schemaVersion);
  if (typeof epoch !== 'string' || !/^[0-9A-Za-z_-]{1,64}$/.test(epoch)) return null;
  if (!isCount(position) || time === null || !info) return null;
  return { ...info, epoch, position, time };
}

/** The gateway runs every operation that needs addresses. */
const NO_ADDRESSES = { domain: null, from: null };

/** A gateway's description of itself, from its answer or from our record; null for anything else. */
export function readInfo(
  project: unknown,
  server: unknown,
  schemaVersion: unknown,
): ReplicaInfo | null {
  if (!isObject(project) || !isObject(server) || !isCount(schemaVersion)) return null;
  const { id, slug, name } = project;
  const { version, urls, channels, telegram_bot: telegramBot = null, keeps_mail: isKept } = server;
  if (!areTexts(id, slug, name, version) || !isObject(urls)) return null;
  const { api, mcp, hooks } = urls;
  if (!areTexts(api, mcp, hooks)) return null;
  if (!Array.isArray(channels) || !areTexts(...(channels as unknown[]))) return null;
  if (telegramBot !== null && typeof telegramBot !== 'string') return null;
  return {
    project: { id, slug, name } as ReplicaInfo['project'],
    server: {
      version,
      urls: { api, mcp, hooks },
      channels,
      telegramBot,
      mail: { ...NO_ADDRESSES, isKept: isKept === true },
    } as ReplicaInfo['server'],
    schemaVersion,
  };
}

/** An event of `GET /v1/replica/changes`; null for a kind that this release doesn't know. */
export function readMessage(name: string, value: unknown): StreamMessage | null {
  if (!isObject(value)) return null;
  if (name === 'end') return { kind: 'end', code: String(value['code']) };
  const { position, epoch } = value;
  const time = readTime(value['time']);
  if (!isCount(position) || time === null) return null;
  if (name === 'time') return { kind: 'time', position, time };
  if (name === 'place' && typeof epoch === 'string')
    return { kind: 'place', epoch, position, time };
  if (name !== 'change') return null;
  const changes: unknown[] = Array.isArray(value['changes']) ? value['changes'] : [];
  const known = changes.filter(isChange);
  // A caller may be waiting for a change that we don't understand.
  const all = value['all'] === true || known.length < changes.length;
  return { kind: 'change', position, time, changes: known, all };
}

function isChange(value: unknown): value is Change {
  if (!isObject(value)) return false;
  const { kind } = value;
  if (kind === 'disk' || kind === 'inbox') return true;
  if (kind === 'request') return areTexts(value['id']);
  return kind === 'event' && areTexts(value['source'], value['type']);
}

/** Milliseconds, from a number or from ISO text. */
function readTime(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : value;
  return isTime(ms) ? ms : null;
}

/** True for milliseconds since 1970 that are a valid date. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < TIMES_END_MS;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
