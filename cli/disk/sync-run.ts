import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { contentTypeOf } from './content-type.ts';
import { targetInside, removeInside } from './inside.ts';
import { PartFile } from './part-file.ts';
import { inParallel } from './pool.ts';
import type { Meter } from './progress.ts';
import { receiveFile } from './receive.ts';
import type { RemoteDisk } from './remote-disk.ts';
import type { Scan } from './scan.ts';
import type { Tries } from '../retry/tries.ts';
import { sendFile } from './send.ts';
import { openPlainFile } from './source.ts';
import { AT_A_TIME, problemText, type Direction, type Item } from './sync-plan.ts';

export interface SyncJob {
  readonly direction: Direction;
  readonly root: string;
  readonly scan: Scan;
  readonly disk: RemoteDisk;
  readonly meter: Meter;
  readonly signal: AbortSignal;
  readonly tries: Pick<Tries, 'run' | 'mayBeRepeat'>;
}

/**
 * Carries out the plan and records each item's outcome. A failed item doesn't stop the others. Returns the error that
 * stopped everything, if any.
 */
export async function runPlan(items: readonly Item[], run: SyncJob): Promise<CliError | null> {
  const open = items.filter(({ outcome }) => outcome === 'planned');
  const deletions = open.filter(({ action }) => action === 'delete');
  const transfers = open.filter(({ action }) => action !== 'delete');
  // Going down, delete first: a new folder may need the name of an old file. Going up, nothing is in the way, so files
  // arrive before old ones go.
  const rounds = run.direction === 'down' ? [deletions, transfers] : [transfers, deletions];
  let cut: CliError | null = null;
  for (const round of rounds) {
    await inParallel(round, AT_A_TIME, async (item) => {
      if (cut || run.signal.aborted) item.outcome = 'open';
      else cut = (await finish(item, run)) ?? cut;
    });
  }
  return cut;
}

/** Runs one item; returns an error if the others can't succeed either. */
async function finish(item: Item, run: SyncJob): Promise<CliError | null> {
  try {
    await work(item, run);
    item.outcome = 'done';
    return null;
  } catch (error) {
    item.outcome = run.signal.aborted ? 'open' : 'failed';
    if (run.signal.aborted) return null;
    item.error = problemText(error);
    return isCut(error) ? error : null;
  }
}

/** Nothing answers or the key is refused, so every other item would fail the same way. */
function isCut(error: unknown): error is CliError {
  if (!(error instanceof CliError)) return false;
  return ['UNREACHABLE', 'UNAVAILABLE'].includes(error.code) || error.exit === EXIT.signedOut;
}

async function work(item: Item, run: SyncJob): Promise<void> {
  switch (item.action) {
    case 'send':
      return send(item, run);
    case 'receive':
      return receive(item, run);
    case 'delete':
      return run.direction === 'up'
        ? run.disk.delete(item.path)
        : removeInside(run.root, item.file);
    case 'skip':
      return undefined;
  }
}

async function send(
  { path, file }: Item,
  { root, disk, meter, signal, tries }: SyncJob,
): Promise<void> {
  const source = await openPlainFile(join(root, file), file);
  try {
    await sendFile({ disk, path, contentType: contentTypeOf(file), source, meter, signal, tries });
  } finally {
    await source.close();
  }
}

async function receive({ path, file }: Item, { root, scan, disk, meter, signal }: SyncJob) {
  const stored = await disk.get(path);
  const place = await targetInside(root, file, scan.files.has(file));
  const part = await PartFile.in(dirname(place.target), file);
  try {
    await receiveFile(stored, { write: (bytes) => part.write(bytes), meter, signal });
    signal.throwIfAborted();
    await part.become(place);
  } finally {
    await part.discard();
  }
}
