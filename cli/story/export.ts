import { appendFile, open, stat } from 'node:fs/promises';
import { LEDGER_LIST_MAX } from '../../shared/lib/limits.ts';
import { canonicalJson } from '../../shared/rules/canonical-json.ts';
import { CHAIN_START, verifyChunk, type LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import type { CommandContext } from '../command.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { onFile } from '../disk/faults.ts';
import { FORMAT, readLedgerFile, type FileFault, type LedgerFile } from './ledger-file.ts';

type Head = LedgerFile['head'];

/** The result of an export. */
export interface ExportResult {
  readonly file: string;
  readonly added: number;
  readonly head: Head;
}

/**
 * Adds the ledger's newer entries to a file. Checks and keeps what the file already has, so an interrupted export
 * continues and yesterday's gets today's entries.
 */
export async function exportLedger(context: CommandContext, path: string): Promise<ExportResult> {
  const { client, signal } = context;
  const { id: project } = (await client().call('whoami', {}, { signal })).project;
  let head = await onFile(path, 'written', keptHead(path, project));
  let added = 0;
  let state = head
    ? { expectedSeq: head.seq + 1, prevHash: head.hash, anchored: true }
    : CHAIN_START;
  for (;;) {
    const entries = await entriesFrom(context, state.expectedSeq);
    const last = entries.at(-1);
    if (!last) return { file: path, added, head };
    const checked = verifyChunk(project, state, entries);
    if (!checked.ok) throw brokenFile(path, { ...checked.fault, line: 0 });
    await addLines(path, entries);
    state = checked.state;
    head = { seq: last.seq, hash: last.hash, at: last.at };
    added += entries.length;
  }
}

/** Appends values to an exported ledger. */
export function addLines(path: string, values: readonly unknown[]): Promise<void> {
  const text = values.map((value) => `${canonicalJson(value)}\n`).join('');
  return onFile(path, 'written', appendFile(path, text));
}

/** The last entry in the file. Starts a new file with its header, and cuts off an incomplete last line. */
async function keptHead(path: string, project: string): Promise<Head> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > 0) await cutTornLine(path, size);
  if (size === 0) {
    await appendFile(path, `${canonicalJson({ format: FORMAT, project })}\n`, { mode: 0o600 });
    return null;
  }
  const read = await readLedgerFile(path);
  if (!read.ok) throw brokenFile(path, read.fault);
  if (read.file.project === project) return read.file.head;
  throw new CliError({
    code: 'OTHER_PROJECT',
    message: `${path} has the ledger of another project.`,
    hint: 'Choose another file.',
    exit: EXIT.refused,
  });
}

const TAIL_BYTES = 1024 * 1024;
const LINE_END = 0x0a;

async function cutTornLine(path: string, size: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const from = Math.max(0, size - TAIL_BYTES);
    const tail = Buffer.alloc(size - from);
    await file.read(tail, 0, tail.length, from);
    const end = tail.lastIndexOf(LINE_END);
    if (end !== -1 && end !== tail.length - 1) await file.truncate(from + end + 1);
  } finally {
    await file.close();
  }
}

/** At most one page of entries starting at this seq, oldest first. */
async function entriesFrom(
  { client, signal }: CommandContext,
  seq: number,
): Promise<LedgerEntry[]> {
  const page = { cursor: seq + LEDGER_LIST_MAX, limit: LEDGER_LIST_MAX };
  const { items } = await client().call('ledger_query', page, { signal });
  return (items as readonly LedgerEntry[])
    .filter((entry) => entry.seq >= seq)
    .map(asWritten)
    .toReversed();
}

/** Without a field that the entry's hash doesn't cover, so a file has one form only. */
function asWritten({ actor = null, ...entry }: LedgerEntry): LedgerEntry {
  return actor === null ? entry : { actor, ...entry };
}

export function brokenFile(path: string, fault: FileFault): CliError {
  const where = fault.line > 0 ? ` (line ${fault.line})` : '';
  return new CliError({
    code: 'LEDGER_BROKEN',
    message: `${path} is broken at entry ${fault.seq}${where}: ${fault.reason.replaceAll('_', ' ')}.`,
    hint: 'Someone changed the file, it was damaged on the way, or a newer release of svc wrote it. Export it again and compare.',
    exit: EXIT.refused,
  });
}
