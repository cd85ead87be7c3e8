import { createHmac, hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';

/** One line of the ledger. `at` is the stored text; digests and hashes are lower-case hex. */
export interface LedgerEntry {
  seq: number;
  at: string;
  op: string;
  /** Who did it, see `Actor`. Entries of earlier releases name nobody, and files and copies of those lack the field. */
  actor?: string | null;
  agent: string | null;
  platform: string | null;
  key_id: string | null;
  subject: string | null;
  request_id: string | null;
  outcome: 'ok' | 'error';
  code: string | null;
  input_digest: string | null;
  result_digest: string | null;
  prev_hash: string;
  hash: string;
}

type UnhashedEntry = Omit<LedgerEntry, 'hash'>;

/** The `prev_hash` of the first entry. */
export const GENESIS_HASH = '0'.repeat(64);

/**
 * hex(SHA-256("svc-ledger-v2\n" + JCS({project, ...all fields but hash}))), or v1 and without `actor` for an entry that
 * names none. The fields never change and stand here in JCS order, so we don't need to sort; a test compares the text
 * with the general JCS.
 */
export function entryHash(project: string, entry: UnhashedEntry): string {
  const { actor, agent, at, code, input_digest, key_id, op, outcome } = entry;
  const { platform, prev_hash, request_id, result_digest, seq, subject } = entry;
  const fields = {
    agent,
    at,
    code,
    input_digest,
    key_id,
    op,
    outcome,
    platform,
    prev_hash,
    project,
    request_id,
    result_digest,
    seq,
    subject,
  };
  const named = actor ?? null;
  return named === null
    ? hash('sha256', `svc-ledger-v1\n${JSON.stringify(fields)}`)
    : hash('sha256', `svc-ledger-v2\n${JSON.stringify({ actor: named, ...fields })}`);
}

/**
 * The entry to store, with its hash. Replaces NUL and lone surrogates in callers' texts with U+FFFD first: the database
 * wouldn't return them, and the stored entry wouldn't match its own hash.
 */
export function sealEntry(projectId: string, entry: UnhashedEntry): Required<LedgerEntry> {
  const sealed: Required<LedgerEntry> = {
    seq: entry.seq,
    at: entry.at,
    op: storable(entry.op),
    actor: storable(entry.actor ?? null),
    agent: storable(entry.agent),
    platform: storable(entry.platform),
    key_id: entry.key_id,
    subject: storable(entry.subject),
    request_id: storable(entry.request_id),
    outcome: entry.outcome,
    code: entry.code,
    input_digest: entry.input_digest,
    result_digest: entry.result_digest,
    prev_hash: entry.prev_hash,
    hash: '',
  };
  sealed.hash = entryHash(projectId, sealed);
  return sealed;
}

function storable<T extends string | null>(text: T): T | string {
  if (text === null || (text.isWellFormed() && !text.includes('\0'))) return text;
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** hex(HMAC-SHA-256(the project's ledger key, JCS(value))). The key keeps anyone from guessing short inputs. */
export function keyedDigest(ledgerKey: Uint8Array, value: unknown): string {
  return createHmac('sha256', ledgerKey).update(canonicalJson(value)).digest('hex');
}

/**
 * The digest of a ledger entry that can be opened: hex(SHA-256("svc-opening-v1\n" + salt + "\n" + value)). The salt is 32
 * random bytes in hex, so nobody who has only the digest can guess the value.
 */
export function openDigest(salt: string, value: string): string {
  return hash('sha256', `svc-opening-v1\n${salt}\n${value}`);
}

/**
 * The state of a verification: the next seq and the hash it must link to. `anchored` is true if it started at the first
 * entry; otherwise the first link relies on an unverified hash.
 */
export interface ChainState {
  expectedSeq: number;
  prevHash: string;
  anchored: boolean;
}

/** The start state for verifying a whole ledger. */
export const CHAIN_START: Readonly<ChainState> = Object.freeze({
  expectedSeq: 1,
  prevHash: GENESIS_HASH,
  anchored: true,
});

/** The first seq where the ledger is wrong; for a gap, the missing seq. */
export interface ChainFault {
  seq: number;
  reason: 'hash_mismatch' | 'link_broken' | 'seq_gap';
}

/**
 * Checks one chunk of entries in seq order; pass the returned state to the next chunk. It can't detect a cut-off tail:
 * compare `prevHash` with the head that you expect.
 */
export function verifyChunk(
  projectId: string,
  state: Readonly<ChainState>,
  entries: Iterable<LedgerEntry>,
): { ok: true; state: ChainState } | { ok: false; fault: ChainFault } {
  let { expectedSeq, prevHash } = state;
  for (const entry of entries) {
    const reason = faultOf(projectId, entry, expectedSeq, prevHash);
    if (reason !== null) return { ok: false, fault: { seq: expectedSeq, reason } };
    prevHash = entry.hash;
    expectedSeq += 1;
  }
  return { ok: true, state: { expectedSeq, prevHash, anchored: state.anchored } };
}

function faultOf(
  projectId: string,
  entry: LedgerEntry,
  expectedSeq: number,
  prevHash: string,
): ChainFault['reason'] | null {
  if (entry.seq !== expectedSeq) return 'seq_gap';
  if (entryHash(projectId, entry) !== entry.hash) return 'hash_mismatch';
  return entry.prev_hash === prevHash ? null : 'link_broken';
}
