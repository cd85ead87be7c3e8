import type { Change } from '../../shared/kernel/context.ts';
import { isObject } from '../../shared/lib/guards.ts';
import type { ReplicaInfo } from './status.ts';

/** The year after it is the last one that can be written, and left for what is reckoned from a time. */
const TIMES_END_MS = Date.UTC(9999, 0);

/** Where a gateway stands, and what it is. */
export interface GatewayPosition extends ReplicaInfo {
  readonly epoch: string;
  readonly position: number;
  /** The gateway's clock, in milliseconds since 1970. */
  readonly time: number;
}

/** What the stream of changes says. */
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

/** Whatever needs it is done by the gateway. */
const NO_MAIL: ReplicaInfo['server']['mail'] = { domain: null, from: null };

/** What a gateway tells of itself, as it tells it and as it is remembered; null for anything else. */
export function readInfo(
  project: unknown,
  server: unknown,
  schemaVersion: unknown,
): ReplicaInfo | null {
  if (!isObject(project) || !isObject(server) || !isCount(schemaVersion)) return null;
  const { id, slug, name } = project;
  const { version, urls, channels, telegram_bot: telegramBot = null } = server;
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
      mail: NO_MAIL,
    } as ReplicaInfo['server'],
    schemaVersion,
  };
}

/** An event of `GET /v1/replica/changes`; null for one of a kind this release does not know. */
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
  // What is not understood may be what somebody waits for.
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

/** Milliseconds since 1970 that make a date. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < TIMES_END_MS;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
