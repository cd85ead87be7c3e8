import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Crockford's base32 in lower case, without i, l, o and u. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const BODY = '[0-9a-hjkmnp-tv-z]{16}';
const PROJECT_ID = new RegExp(`^prj_${BODY}$`);
const PROJECT_BODY = new RegExp(`^${BODY}$`);
const API_KEY = new RegExp(`^svc_live_(${BODY})[0-9A-Za-z]{38}$`);
const TOKEN = new RegExp(`^(${BODY})[0-9A-Za-z]{24}$`);

const BODY_CHARS = 16;
const CHECKSUM_CHARS = 6;
const API_KEY_CHARS = 'svc_live_'.length + BODY_CHARS + 32 + CHECKSUM_CHARS;
const TOKEN_CHARS = BODY_CHARS + 24;

/** Events, keys, requests, channels, sources, routes, leases, mails, batches, threads, deliveries, uploads, notices, … */
type IdPrefix =
  | 'evt'
  | 'key'
  | 'req'
  | 'chn'
  | 'src'
  | 'rte'
  | 'lse'
  | 'msg'
  | 'bat'
  | 'thr'
  | 'dlv'
  | 'upl'
  | 'lnk'
  | 'ntc'
  | 'acc'
  | 'inv'
  | 'mbr'
  | 'brw';

// One system call fills the pool for a few hundred ids.
const pool = new Uint8Array(4096);
let poolAt = pool.length;

function randomByte(): number {
  if (poolAt >= pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const byte = pool[poolAt] ?? 0;
  // Each byte is used once and erased, so that a heap dump shows no past secrets.
  pool[poolAt++] = 0;
  return byte;
}

function randomBase32(chars: number): string {
  let text = '';
  for (let i = 0; i < chars; i++) text += BASE32.charAt(randomByte() & 31);
  return text;
}

function randomBase62(chars: number): string {
  let text = '';
  while (text.length < chars) {
    const byte = randomByte();
    // 248 is the largest multiple of 62 in a byte; higher values would favor the first letters.
    if (byte < 248) text += BASE62.charAt(byte % 62);
  }
  return text;
}

const ULID_MS_MAX = 2 ** 48 - 1;
const ulidDigits = new Uint8Array(16);
let ulidMs = -1;
let ulidTime = '';

function setUlidTime(ms: number): void {
  ulidMs = ms;
  ulidTime = '';
  for (let i = 0, rest = ms; i < 10; i++, rest = Math.floor(rest / 32)) {
    ulidTime = BASE32.charAt(rest % 32) + ulidTime;
  }
}

function drawUlidDigits(): void {
  for (let i = 0; i < ulidDigits.length; i++) ulidDigits[i] = randomByte() & 31;
}

/** Adds one to the random part; false if all 80 bits overflowed to zero. */
function incrementUlidDigits(): boolean {
  for (let i = ulidDigits.length - 1; i >= 0; i--) {
    const digit = (ulidDigits[i] ?? 0) + 1;
    ulidDigits[i] = digit & 31;
    if (digit < 32) return true;
  }
  return false;
}

/**
 * `<prefix>_<ulid>` in lower case, sortable by time. This process's ids strictly increase within a prefix, even within
 * a millisecond or if the clock goes back. Throws RangeError for an invalid time.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs > ULID_MS_MAX) {
    throw new RangeError(`Not a time in integer milliseconds: ${nowMs}`);
  }
  if (nowMs > ulidMs) {
    setUlidTime(nowMs);
    drawUlidDigits();
  } else if (!incrementUlidDigits()) {
    setUlidTime(ulidMs + 1);
  }
  let random = '';
  for (const digit of ulidDigits) random += BASE32.charAt(digit);
  return `${prefix}_${ulidTime}${random}`;
}

/** A new project id: `prj_` and 80 random bits. Keys and tokens contain it in clear. */
export function newProjectId(): string {
  return `prj_${randomBase32(BODY_CHARS)}`;
}

/** The 16 characters after `prj_`. Throws TypeError if the text isn't a project id. */
export function projectBody(projectId: string): string {
  if (!PROJECT_ID.test(projectId)) throw new TypeError('Not a project id.');
  return projectId.slice(4);
}

/** The reverse of `projectBody`. Throws TypeError for anything else, because the result names files. */
export function projectIdFromBody(body: string): string {
  if (!PROJECT_BODY.test(body)) throw new TypeError('Not the body of a project id.');
  return `prj_${body}`;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARS; i++, rest = Math.floor(rest / 62)) {
    digits = BASE62.charAt(rest % 62) + digits;
  }
  return digits;
}

/** `svc_live_`, the project body, 32 random base62 characters (190 bits) and a CRC32 of all that. */
export function newApiKey(projectId: string): string {
  const text = `svc_live_${projectBody(projectId)}${randomBase62(32)}`;
  return text + checksum(text);
}

/** A key's project, or null for junk. Checks only the form, so look up the hash next. */
export function parseApiKey(text: string): { projectId: string } | null {
  if (text.length !== API_KEY_CHARS) return null;
  const body = API_KEY.exec(text)?.[1];
  if (body === undefined) return null;
  // The checksum catches typos and junk. It's public, so its timing reveals nothing.
  if (checksum(text.slice(0, -CHECKSUM_CHARS)) !== text.slice(-CHECKSUM_CHARS)) return null;
  return { projectId: `prj_${body}` };
}

/** What the store keeps of a key: SHA-256 in hex. A random key needs no slow hash. */
export function hashApiKey(text: string): string {
  return hash('sha256', text);
}

/** The part of a key that is shown. */
export function last4(text: string): string {
  return text.slice(-4);
}

/** A token for hook, link and upload URLs: the project body and 24 random base62 characters (143 bits). */
export function newToken(projectId: string): string {
  return projectBody(projectId) + randomBase62(24);
}

/** A token's project, or null if the text isn't a token. */
export function parseToken(text: string): { projectId: string } | null {
  if (text.length !== TOKEN_CHARS) return null;
  const body = TOKEN.exec(text)?.[1];
  return body === undefined ? null : { projectId: `prj_${body}` };
}

/** A secret without a project: 32 random base62 characters (190 bits). Its length differs from a token's. */
export function newSecret(): string {
  return randomBase62(32);
}

/**
 * A refresh token: its project, a secret that all refresh tokens of a grant share, and one of its own. 190 random bits
 * each.
 */
export function newRefreshToken(projectId: string, family = newSecret()): string {
  return `svc_refresh_${projectBody(projectId)}${family}${newSecret()}`;
}

const REFRESH_TOKEN = new RegExp(`^svc_refresh_(${BODY})([0-9A-Za-z]{32})[0-9A-Za-z]{32}$`);

/** The parts of a refresh token, or null if the text isn't one. */
export function parseRefreshToken(text: string): { projectId: string; family: string } | null {
  const [, body, family] = REFRESH_TOKEN.exec(text) ?? [];
  return body === undefined || family === undefined ? null : { projectId: `prj_${body}`, family };
}

/** Names one history of a database's log: 22 random base62 characters (131 bits). */
export function newEpoch(): string {
  return randomBase62(22);
}

/** A value for X-Request-Id, without a prefix because `req_` is for approval requests. */
export function newRequestId(): string {
  return randomBase32(16);
}
