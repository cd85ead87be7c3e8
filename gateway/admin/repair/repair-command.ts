import { resolve } from 'node:path';
import type { S3Config } from '../../blobs/blobs-config.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';
import { AdminError } from '../admin-error.ts';
import { damageLines } from '../check/check-command.ts';
import type { AdminCall } from '../move/move-commands.ts';
import { progressOn } from '../progress.ts';
import { repairData, type RepairRow, type RepairReport } from './repair.ts';
import type { LedgerHead } from './repair-database.ts';

const EXIT_LEFT = 1;

interface RepairCall extends Omit<AdminCall, 'names'> {
  readonly from?: string | undefined;
  readonly replica?: string | undefined;
  readonly yes: boolean;
  readonly blobs: S3Config | null;
}

/** `repair`: exit code 1 if something is damaged still, or if `--yes` is missing. */
export async function runRepair(call: RepairCall): Promise<void> {
  const { settings, json, signal, from, replica, yes, blobs } = call;
  if (settings.databases.onServer && replica !== undefined) {
    throw new AdminError(
      'SVC_DATABASE_URL is set: the databases are on a server. Restore them there, as of a time before the damage.',
    );
  }
  const report = await repairData({
    settings,
    signal,
    backup: from === undefined ? null : resolve(from),
    replica: replica === undefined ? null : resolve(replica),
    blobs,
    mayLose: yes,
    now: Date.now(),
    onProgress: progressOn(process.stderr, 'Checking'),
  });
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : linesOf(report));
  if (!report.done || report.damage.length > 0) process.exitCode = EXIT_LEFT;
}

function linesOf({ data, done, repaired, damage }: RepairReport): string {
  const lines = repaired.flatMap((one) => repairedLines(one, done));
  if (!done) {
    lines.push(
      'Nothing was changed. Whatever was written after these copies were made would be lost; to replace the databases, repeat this with --yes.',
    );
  } else if (damage.length > 0) {
    lines.push(
      `${pluralize(damage.length, 'object')} damaged still, because no copy was found:`,
      ...damageLines(damage),
      'An older backup may have one (--from DIR), for a database also a replica (--replica DIR), for a file another bucket (--bucket ADDRESS). A database on a server is restored at its server.',
    );
  } else lines.push(`All of ${data} is as it was written.`);
  return `${lines.join('\n')}\n`;
}

function repairedLines(one: RepairRow, done: boolean): string[] {
  const { file, what, from, as_of, ledger_before, ledger_after, kept } = one;
  if (from === null) return [`Removed ${file}: it's made anew.`];
  if (as_of === null) return [`Replaced ${file} (${what}) from ${from}.`];
  const head = `${done ? 'Replaced' : 'Would replace'} ${file} from ${from}, as of ${as_of}.`;
  const ends = file === 'control.db' ? [] : [ledgerLine(ledger_before, ledger_after)];
  return [head, ...ends, ...(kept === null ? [] : [`  The damaged one is kept in ${kept}.`])];
}

function ledgerLine(before: LedgerHead | null, after: LedgerHead | null): string {
  const was = before === null ? "can't be read in the damaged one" : `ended at seq ${before.seq}`;
  const is = after === null ? 'is empty' : `ends at seq ${after.seq} (${after.hash})`;
  return `  Its ledger ${was}; in the copy it ${is}.`;
}
