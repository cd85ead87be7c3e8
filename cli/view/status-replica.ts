import type { DaemonStatus, ReplicaReport } from '../../daemon/record.ts';
import type { Pair } from './pairs.ts';
import { countText, sizeText } from './sizes.ts';
import { nounFor } from '../../shared/lib/pluralize.ts';

/** The project's gateway and the state of its replica. */
export function replicaPairs({ gateway, replica }: DaemonStatus): Pair[] {
  if (!gateway || !replica) return [];
  return [
    ['Gateway', gateway],
    ['Replica', stateText(replica)],
    ['Reads', READS[replica.reads]],
    ...ledgerPairs(replica),
  ];
}

/** The scopes that a replica needs, because it holds the whole project. */
const REPLICA_SCOPES = 'inbox:read, approvals, disk or disk:read, and ledger:read';

const READS: Readonly<Record<ReplicaReport['reads'], string>> = {
  local: 'from the replica',
  late: 'from the replica, because the gateway is slow to answer',
  stale: 'from the replica, marked stale; writes fail',
  gateway: 'from the gateway',
};

function stateText(replica: ReplicaReport): string {
  const { state, position, offline_since: since, age_ms: age } = replica;
  const at = position === null ? '' : `, position ${countText(position)}`;
  switch (state) {
    case 'live':
      return `live${at}`;
    case 'connecting':
      return `connecting${behindText(age)}`;
    case 'copying':
    case 'catching-up':
      return copyText(replica);
    case 'offline':
      return `offline since ${since ?? 'the start'}${at}${behindText(age)}`;
    case 'refused':
      return replica.code === 'SCOPE_MISSING'
        ? 'none: the key lacks scopes'
        : 'none: the key is refused';
    case 'none':
      return 'none: the key is limited';
    case 'unsupported':
      return 'none: see below';
  }
}

/** A replica's progress: `copying 34 MB of 120 MB`, `catching up: 12,000 of 100,000 commits`. */
export function copyText(replica: ReplicaReport | null): string {
  if (replica?.state === 'copying' && replica.copied) {
    const { done, total } = replica.copied;
    return `copying ${sizeText(done)} of ${sizeText(total)}`;
  }
  if (replica?.state === 'copying') return 'copying';
  if (replica?.state === 'catching-up') {
    const { position, behind } = replica;
    if (position === null) return 'catching up';
    const all = position + behind;
    return `catching up: ${countText(position)} of ${countText(all)} ${nounFor(all, 'commit')}`;
  }
  return 'connecting';
}

function behindText(ageMs: number | null): string {
  if (ageMs === null) return '';
  const seconds = Math.round(ageMs / 1000);
  if (seconds < 120) return `, ${seconds} s behind`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `, ${minutes} min behind` : `, ${Math.round(minutes / 60)} h behind`;
}

function ledgerPairs({ witness: history }: ReplicaReport): Pair[] {
  if (!history.ok)
    return [['Ledger', `differs from what this machine saw before, from entry ${history.seq} on`]];
  return history.seq === 0 ? [] : [['Ledger', `checked up to entry ${countText(history.seq)}`]];
}

/** What the user should know or do, each in a sentence or two. */
export function replicaAdvice({ gateway, replica }: DaemonStatus): string[] {
  if (!replica) return [];
  const { witness: history } = replica;
  const advice: string[] = [];
  if (!history.ok) {
    advice.push(
      `${historyAlarm(gateway, history)}. Ask the gateway's operator. Once you know why: svc ledger verify --accept`,
    );
  }
  const note = noteOf(replica, gateway);
  if (note !== null) advice.push(note);
  return advice;
}

/** What's wrong with the gateway's ledger, without a full stop. */
export function historyAlarm(
  gateway: string | null,
  { reason, seq }: Extract<ReplicaReport['witness'], { ok: false }>,
): string {
  return `${gateway} shows a different ledger than before (${HISTORY_PROBLEMS[reason]} at entry ${seq})`;
}

const HISTORY_PROBLEMS: Readonly<Record<string, string>> = {
  truncated: 'entries are missing',
  rewritten: 'entries were rewritten',
  hash_mismatch: "an entry doesn't match its hash",
  link_broken: "an entry doesn't link to the one before it",
  seq_gap: 'a number is missing',
};

/** What `svc up` adds below the addresses; null if all is well. */
export function replicaNote({
  gateway,
  replica,
}: Pick<DaemonStatus, 'gateway' | 'replica'>): string | null {
  return replica && noteOf(replica, gateway);
}

function noteOf(replica: ReplicaReport, gateway: string | null): string | null {
  const { state, detail, code } = replica;
  switch (state) {
    case 'live':
      return lateNote(replica, gateway);
    case 'connecting':
    case 'copying':
    case 'catching-up':
      return `The replica isn't ready (${detail ?? copyText(replica)}). svc keeps trying; until then, reads come from the gateway. See: svc status`;
    case 'offline':
      return `${absenceOf(replica, gateway)} ${ABSENT[replica.reads]}`;
    case 'refused':
      return refusalNote(code, gateway);
    case 'none':
      return `${detail ?? 'No replica.'} All calls go to the gateway.`;
    case 'unsupported':
      return `No replica: ${detail ?? 'update svc.'} Until then all calls go to the gateway.`;
  }
}

function lateNote({ reads }: ReplicaReport, gateway: string | null): string | null {
  if (reads !== 'late') return null;
  return `${gateway} is slow to answer. Reads come from the replica, and what may be missing there is marked; writes wait for the gateway.`;
}

/** The daemon writes "the gateway"; here its address is more useful. */
function absenceOf({ detail }: ReplicaReport, gateway: string | null): string {
  return (detail ?? "The gateway can't be reached.").replace(/^The gateway\b/, gateway ?? '$&');
}

const FROM_REPLICA = 'Reads come from the replica for up to 24 h; writes fail.';

const ABSENT: Readonly<Record<ReplicaReport['reads'], string>> = {
  local: FROM_REPLICA,
  late: FROM_REPLICA,
  stale: FROM_REPLICA,
  gateway: "The replica can't answer either, so reads and writes fail.",
};

function refusalNote(code: string | null, gateway: string | null): string {
  return code === 'SCOPE_MISSING'
    ? `No replica: it needs a key with ${REPLICA_SCOPES}. All calls go to the gateway.`
    : `${gateway} refuses the stored key (${code ?? 'UNAUTHENTICATED'}). Sign in again: svc login`;
}
