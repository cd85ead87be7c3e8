import { mkdir, realpath, stat } from 'node:fs/promises';
import { errorCode } from '../../../shared/lib/guards.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { onFile, unreadable } from '../../disk/faults.ts';
import { showProgress } from '../../disk/progress.ts';
import { RemoteDisk } from '../../disk/remote-disk.ts';
import { scanFolder, type Scan } from '../../disk/scan.ts';
import { planDown, planUp, storedBelow, type Plan } from '../../disk/sync-plan.ts';
import { runPlan, type SyncJob } from '../../disk/sync-run.ts';
import {
  failureOf,
  reportOf,
  reportView,
  transferBytes,
  type Report,
} from '../../disk/sync-view.ts';
import { typedFolder } from '../../disk/typed-path.ts';
import { usageError, type CliError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';

export const declaration: Declaration = {
  summary: 'Sync a local folder to the disk, or the disk to a folder.',
  description:
    'Compares size and SHA-256 and transfers only files that differ, four at a time. Skips symbolic links and special files, and lists each one. If a file fails, the rest still sync and the exit code is 1; run the same command again to continue.',
  args: [
    { name: 'dir', required: true, summary: 'The local folder.', stored: 'paths' },
    { name: 'prefix', required: true, summary: 'The folder on the disk; / means the whole disk.' },
  ],
  options: [
    { flag: 'down', summary: 'Sync from the disk to this machine.' },
    { flag: 'delete', summary: 'Also delete files missing from the source.' },
    { flag: 'dry-run', summary: 'Show the changes without making them.' },
  ],
  writes: true,
  examples: [
    'file sync ./site site',
    'file sync ./site site --delete --dry-run',
    'file sync ./restored backups/site --down',
  ],
};

/** `svc file sync`: makes the disk match a local folder, or the folder match the disk. */
export async function run(context: CommandContext): Promise<number> {
  const { output, signal } = context;
  const folder = textArgument(context, 'dir') ?? '';
  const prefix = typedFolder(textArgument(context, 'prefix') ?? '');
  const direction = switchOption(context, 'down') ? 'down' : 'up';
  const dryRun = switchOption(context, 'dry-run');
  const isThere = await checkFolder(folder, direction);
  const disk = new RemoteDisk(context.client(), signal, { isForMany: true });
  const sides = {
    root: isThere ? await onFile(folder, 'read', realpath(folder)) : folder,
    prefix,
    scan: isThere ? await scanFolder(folder, signal) : NOTHING,
    stored: await output.spin('Listing', storedBelow(disk, prefix)),
    withDelete: switchOption(context, 'delete'),
    signal,
  };
  const making = direction === 'up' ? planUp(sides) : planDown(sides);
  const plan = await output.spin('Comparing', making);
  tell(context, plan, sides);
  let cut: CliError | null = null;
  if (!dryRun) {
    refuseEmptySource(plan, direction === 'up' ? folder : `${prefix || '/'} on the disk`);
    const root = isThere ? sides.root : await madeFolder(folder);
    cut = await transfer(context, plan, { direction, root, scan: sides.scan, disk });
  }
  return finish(context, reportOf(plan, dryRun), cut);
}

function finish({ output, signal }: CommandContext, report: Report, cut: CliError | null): number {
  output.answer(report, reportView(report));
  if (signal.aborted) return EXIT.interrupted;
  const failure = failureOf(report, cut, output.json);
  if (failure) throw failure;
  return EXIT.done;
}

const NOTHING: Scan = { files: new Map(), skipped: [], refused: [], isComplete: true };

async function madeFolder(folder: string): Promise<string> {
  await onFile(folder, 'made', mkdir(folder, { recursive: true }));
  return onFile(folder, 'read', realpath(folder));
}

async function transfer(
  context: CommandContext,
  { items }: Plan,
  how: Omit<SyncJob, 'meter' | 'signal' | 'tries'>,
): Promise<CliError | null> {
  const open = items.filter(({ outcome }) => outcome === 'planned');
  if (open.length === 0) return null;
  const words = how.direction === 'up' ? 'Sending' : 'Receiving';
  const progress = showProgress(
    context,
    `${words} ${pluralize(open.length, 'file')}`,
    transferBytes(open),
  );
  try {
    return await runPlan(items, {
      ...how,
      meter: progress,
      signal: context.signal,
      tries: context.tries,
    });
  } finally {
    progress.end();
  }
}

/** False if the folder doesn't exist; syncing down creates it. */
async function checkFolder(folder: string, direction: 'up' | 'down'): Promise<boolean> {
  try {
    if ((await stat(folder)).isDirectory()) return true;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw unreadable(error, folder);
    if (direction === 'down') return false;
    throw usageError(`No folder "${folder}" here.`);
  }
  throw usageError(`"${folder}" isn't a folder.`, `Upload a single file: svc file put ${folder}`);
}

function tell(
  { output }: CommandContext,
  { items }: Plan,
  { scan, withDelete }: SyncSummary,
): void {
  for (const { outcome, file, reason } of items) {
    if (outcome === 'skipped') output.note(`Skipped: ${file} (${reason})`);
  }
  if (withDelete && !scan.isComplete) {
    output.note("svc deleted nothing because it couldn't read every folder.");
  }
}

interface SyncSummary {
  readonly scan: Scan;
  readonly withDelete: boolean;
}

/** An empty source is far more often a wrong folder or prefix than a wish to empty the other side. */
function refuseEmptySource({ items, unchanged }: Plan, source: string): void {
  const deletions = items.filter(({ action }) => action === 'delete').length;
  if (deletions === 0 || deletions < items.length + unchanged) return;
  throw usageError(
    `${source} is empty, so --delete would remove everything on the other side: ${pluralize(deletions, 'file')}.`,
    'Check both names; --dry-run lists the deletions. To delete files one at a time: svc file delete PATH',
  );
}
