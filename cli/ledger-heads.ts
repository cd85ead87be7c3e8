import {
  isHead,
  readHeads,
  rememberHead as remember,
  replaceHead,
  type LedgerHead,
} from '../daemon/ledger-heads.ts';
import type { Client } from './call/client.ts';
import { EXIT } from './exit.ts';
import { CliError } from './errors.ts';

/** How the current ledger compares with the head this machine remembers. */
export type HistoryCheck =
  | { readonly ok: true; readonly remembered: LedgerHead | null }
  | {
      readonly ok: false;
      readonly reason: 'truncated' | 'rewritten';
      readonly remembered: LedgerHead;
      /** What's at that position now. */
      readonly found: { readonly seq: number; readonly hash: string } | null;
    };

/** The remembered head of a project, or null if there is none. */
export function rememberedHead(file: string, project: string): LedgerHead | null {
  const head = undamagedHeads(file)[project];
  return isHead(head) ? head : null;
}

/** Remembers a head; an older one never replaces a newer one. */
export function rememberHead(file: string, project: string, head: LedgerHead): void {
  undamagedHeads(file);
  remember(file, project, head);
}

/** Replaces the remembered head, even with an older one; null forgets it. */
export function acceptHead(file: string, project: string, head: LedgerHead | null): void {
  undamagedHeads(file);
  replaceHead(file, project, head);
}

function undamagedHeads(file: string): Record<string, unknown> {
  const heads = readHeads(file);
  if (heads) return heads;
  // Ignoring a damaged file would help whoever damaged it.
  throw new CliError({
    code: 'LEDGER_HEADS_DAMAGED',
    message: `${file} is damaged, so svc can't compare the ledger with what this machine saw before.`,
    hint: 'Restore the file, or delete it to start over.',
    exit: EXIT.refused,
  });
}

/** Compares the current ledger with the remembered head. It may only have grown. */
export async function compareWithRemembered(
  client: Pick<Client, 'call'>,
  remembered: LedgerHead | null,
  head: { readonly seq: number; readonly hash: string } | null,
): Promise<HistoryCheck> {
  if (remembered === null) return { ok: true, remembered };
  if (head === null || head.seq < remembered.seq) {
    const found = head && { seq: head.seq, hash: head.hash };
    return { ok: false, reason: 'truncated', remembered, found };
  }
  const entry = head.seq === remembered.seq ? head : await entryAt(client, remembered.seq);
  if (entry?.seq === remembered.seq && entry.hash === remembered.hash) {
    return { ok: true, remembered };
  }
  const found = entry && { seq: entry.seq, hash: entry.hash };
  return { ok: false, reason: 'rewritten', remembered, found };
}

async function entryAt(client: Pick<Client, 'call'>, seq: number): Promise<LedgerHead | null> {
  const { items } = await client.call('ledger_query', { cursor: seq + 1, limit: 1 });
  return items[0] ?? null;
}

/** The alarm for a ledger that lost or changed entries this machine had seen. */
export function ledgerAlarm(history: Extract<HistoryCheck, { ok: false }>): CliError {
  const { reason, remembered, found } = history;
  const seen = `On ${remembered.at} this machine saw entry ${remembered.seq} with hash ${remembered.hash}.`;
  const now =
    reason === 'truncated'
      ? `Now the ledger ends at ${found === null ? 'nothing' : `entry ${found.seq}`}.`
      : `Now entry ${remembered.seq} ${found?.seq === remembered.seq ? `has hash ${found.hash}` : 'is gone'}.`;
  return new CliError({
    code: reason === 'truncated' ? 'LEDGER TRUNCATED' : 'LEDGER REWRITTEN',
    message: `${seen} ${now}`,
    hint: 'A ledger only grows, so someone changed its database or restored an old copy. Keep both copies and investigate. Once you know why: svc ledger verify --accept',
    exit: EXIT.refused,
  });
}
