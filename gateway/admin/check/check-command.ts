import { pluralize } from '../../../shared/lib/pluralize.ts';
import { checkData, ON_SERVER, type CheckReport, type Finding } from './check.ts';
import { isSpare } from './check-database.ts';
import type { AdminCall } from '../move/move-commands.ts';
import { progressOn } from '../progress.ts';

const EXIT_DAMAGE = 1;
/** Lines for each file. */
const SHOWN_MAX = 3;

/** `check`: exit code 1 if something is damaged. */
export async function runCheck({
  settings,
  json,
  signal,
}: Omit<AdminCall, 'names'>): Promise<void> {
  const onProgress = progressOn(process.stderr, 'Checking');
  const report = await checkData({ settings, signal, onProgress });
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : linesOf(report));
  if (report.damage.length > 0) process.exitCode = EXIT_DAMAGE;
}

function linesOf(report: CheckReport): string {
  const { data, projects, databases, blobs, size_bytes, damage } = report;
  const looked = [
    pluralize(projects, 'project'),
    pluralize(databases, 'database'),
    `${pluralize(blobs, 'blob')} of ${pluralize(size_bytes, 'byte')}`,
  ].join(', ');
  const lines = [`Checked ${data}: ${looked}.`];
  if (damage.length === 0) return `${lines.join('\n')} All of it is as it was written.\n`;
  lines.push(`${pluralize(damage.length, 'object')} damaged:`, ...damageLines(damage));
  return `${[...lines, ...nextSteps(report)].join('\n')}\n`;
}

/** A line each, but of the pages of one file the first few only. */
export function damageLines(damage: readonly Finding[]): string[] {
  const files = [...new Set(damage.map(({ file }) => file))];
  return files.flatMap((file) => {
    const found = damage.filter((one) => one.file === file);
    const more = found.length - SHOWN_MAX;
    const lines = found.slice(0, SHOWN_MAX).map(lineOf);
    return more > 0 ? [...lines, `  ${file}: ${more} more`] : lines;
  });
}

/** `  projects/…/ab12… (blob) doesn't match its digest` */
function lineOf({ file, what, problem }: Finding): string {
  return `  ${file} (${what}) ${problem}`;
}

/** What to do about damage. */
function nextSteps({ data, damage }: Pick<CheckReport, 'data' | 'damage'>): string[] {
  const kinds = new Set(damage.map(({ what }) => what));
  const steps: string[] = [];
  if (kinds.has('master key')) {
    steps.push('Put the right master key back from where you keep it: everything needs it.');
  }
  if (kinds.has('blob')) {
    steps.push(
      `To put good blobs in place of damaged ones, also while it runs: svc gateway repair --data ${data} --from BACKUP. Or store the same files again.`,
    );
  }
  const others = damage.filter(({ what }) => what !== 'blob' && what !== 'master key');
  if (others.length > 0 && others.every(({ file }) => isSpare(file))) {
    steps.push(
      `To remove the damaged files that svc can rebuild, stop whatever uses them, then run: svc gateway repair --data ${data}`,
    );
  } else if (others.some(({ file }) => file === ON_SERVER)) {
    steps.push('Restore that database at its server, as of a time before the damage.');
  } else if (others.length > 0) {
    steps.push(
      `To replace a database, stop what uses it, then: svc gateway repair --data ${data} --from BACKUP, or --replica FOLDER for a member's replica of it.`,
    );
  }
  steps.push(
    'Everything else keeps working. Keep the backups that you have: newer ones lack what is damaged.',
  );
  return steps;
}
