import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ServiceError } from '../../shared/lib/errors.ts';
import { startFailureText } from '../../shared/host/start-refusal.ts';
import { DamageRegister } from '../../shared/store/sums/damage.ts';
import { errorCode } from '../../shared/lib/guards.ts';
import { refuseHalfRekeyed } from '../lib/rekey-mark.ts';
import type { S3Config } from '../blobs/blobs-config.ts';
import { AdminError } from './admin-error.ts';
import { backUp } from './backup/backup.ts';
import { runCheck } from './check/check-command.ts';
import type { DatabaseFinding } from './check/check-database.ts';
import { damageIn, type DamagedFile, type Manifest, type ProjectEntry } from './backup/manifest.ts';
import { runExport, runImport, type AdminCall } from './move/move-commands.ts';
import { progressOn } from './progress.ts';
import { InterruptedRekeyError } from './rekey/rekey.ts';
import { runRekey } from './rekey/rekey-command.ts';
import { runRepair } from './repair/repair-command.ts';
import { restore } from './backup/restore.ts';
import { keyFileOf, readAdminSettings } from './settings.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';

const EXIT_INTERRUPTED = 130;
/** Of a gateway with many projects, the first ones stand for all. */
const LEDGERS_SHOWN_MAX = 20;
const HASH_CHARS = 12;

const USAGE = `Usage: backup|restore FOLDER [--include-key]
       export PROJECT FOLDER [--hold]
       import FOLDER [--slug SLUG]
       rekey --new-key FILE
       check
       repair [--from FOLDER] [--replica FOLDER] [--bucket ADDRESS] [--yes]
each with [--data FOLDER] [--config FILE] [--json]`;

/**
 * Runs the operator's commands on a gateway's data: `backup FOLDER`, `restore FOLDER`, `export PROJECT FOLDER`,
 * `import FOLDER`, `rekey --new-key FILE`, `check` or `repair`. Prints a summary; progress goes to standard error.
 */
async function main(): Promise<void> {
  // Only this user may read the files it creates.
  process.umask(0o077);
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      bucket: { type: 'string' },
      config: { type: 'string' },
      data: { type: 'string' },
      from: { type: 'string' },
      hold: { type: 'boolean', default: false },
      'include-key': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      'new-key': { type: 'string' },
      replica: { type: 'string' },
      slug: { type: 'string' },
      yes: { type: 'boolean', default: false },
    },
  });
  const closing = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => closing.abort());
  }
  const settings = readAdminSettings(process.env, values);
  const [task = '', ...names] = positionals;
  const { json, hold, slug } = values;
  const call = { settings, names, json, signal: closing.signal };
  if (task === 'rekey') return runRekey({ ...call, newKey: values['new-key'] ?? null });
  if (task === 'check') return runCheck(call);
  // In a copy, some secrets would be sealed with one key and some with another.
  refuseHalfRekeyed(settings.dataFolder);
  if (task === 'repair') return runRepair({ ...call, ...values, blobs: otherBucket(values) });
  if (task === 'export') return runExport({ ...call, hold });
  if (task === 'import') return runImport({ ...call, slug: slug ?? null });
  if (task === 'backup' || task === 'restore') {
    return copyWhole({ ...call, task, includeKey: values['include-key'] });
  }
  throw new AdminError(USAGE);
}

/** Another location for blobs, written like SVC_BLOBS. */
function otherBucket({
  bucket,
  config,
}: {
  readonly bucket?: string | undefined;
  readonly config?: string | undefined;
}): S3Config | null {
  if (bucket === undefined) return null;
  const env = { ...process.env, SVC_BLOBS: bucket };
  const { blobs } = readAdminSettings(env, config === undefined ? {} : { config });
  if (blobs) return blobs;
  throw new AdminError('--bucket: name a bucket as SVC_BLOBS does, such as s3://name?region=…');
}

interface WholeCall extends AdminCall {
  readonly task: 'backup' | 'restore';
  readonly includeKey: boolean;
}

async function copyWhole({ task, settings, names, json, signal, includeKey }: WholeCall) {
  const [folder] = names;
  if (folder === undefined) throw new AdminError(USAGE);
  if (settings.databases.onServer) {
    throw new AdminError(
      `SVC_DATABASE_URL is set: the databases are on a server. Back them up and restore them there. To copy one project: svc gateway export PROJECT ${folder}`,
    );
  }
  const parts = {
    folder: resolve(folder),
    dataFolder: settings.dataFolder,
    bucket: settings.bucket,
    signal,
    onProgress: progressOn(process.stderr, task === 'backup' ? 'Backing up' : 'Restoring'),
  };
  const spares: DatabaseFinding[] = [];
  const manifest =
    task === 'backup'
      ? await backUp({
          ...parts,
          keyFile: includeKey ? keyFileOf(settings) : null,
          now: Date.now(),
          onSpare: (found) => void spares.push(found),
        })
      : await restore({ ...parts, keyFile: settings.masterKeyFile });
  const summary = summaryOf(manifest, parts);
  process.stdout.write(json ? `${JSON.stringify(summary)}\n` : linesOf(task, summary));
  if (task === 'backup') process.stderr.write(aboutKey(settings.masterKeyFile, summary));
  noteLacks(manifest, { task, dataFolder: parts.dataFolder });
  noteSpares(spares, parts.dataFolder);
}

/** The backup lacks nothing, and something is damaged all the same: exit code 1. */
function noteSpares(spares: readonly DatabaseFinding[], dataFolder: string): void {
  if (spares.length === 0) return;
  const lines = [
    `Damaged, but not needed in a backup: ${pluralize(spares.length, 'file')}. Rebuild with: svc gateway repair --data ${dataFolder}`,
    ...spares.map(({ file, what, problem }) => `  ${file} (${what}) ${problem}`),
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
  process.exitCode = 1;
}

/** A backup that lacks something is made, and isn't a success: exit code 1. */
function noteLacks(
  manifest: Manifest,
  { task, dataFolder }: { readonly task: WholeCall['task']; readonly dataFolder: string },
): void {
  const damage = damageIn(manifest);
  if (damage.length === 0) return;
  const register = new DamageRegister(dataFolder);
  for (const { project, file, what } of damage) register.report({ project, file, what });
  const isBackup = task === 'backup';
  const lines = [
    isBackup
      ? `THIS BACKUP LACKS ${pluralize(damage.length, 'damaged object')}. Keep the older ones that have them, and see svc gateway check --data ${dataFolder}`
      : `The backup lacked ${pluralize(damage.length, 'object')} that had been damaged. Older backups may have them: svc gateway repair --data ${dataFolder} --from BACKUP`,
    ...damage.map(({ file, what, problem }) => `  ${file} (${what}) ${problem}`),
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
  if (isBackup) process.exitCode = 1;
}

interface Summary {
  readonly folder: string;
  readonly data: string;
  readonly created_at: string;
  readonly projects: number;
  readonly blobs: number;
  readonly size_bytes: number;
  /** Where the blobs are if they aren't in the backup. */
  readonly bucket: string | null;
  readonly key_included: boolean;
  /** What the backup lacks because it was damaged. */
  readonly damage: readonly DamagedFile[];
  /** How far each project goes, to compare with `svc ledger verify`. */
  readonly ledgers: readonly {
    readonly project: string;
    readonly slug: string;
    readonly position: number;
    readonly ledger: ProjectEntry['ledger'];
  }[];
}

function summaryOf(
  manifest: Manifest,
  { folder, dataFolder }: { folder: string; dataFolder: string },
): Summary {
  const { projects, control, created_at, bucket, key } = manifest;
  const sum = (of: (project: Manifest['projects'][number]) => number): number =>
    projects.reduce((total, project) => total + of(project), 0);
  return {
    folder,
    data: dataFolder,
    created_at,
    projects: projects.length,
    blobs: sum(({ blobs }) => blobs.count),
    size_bytes:
      (control?.size_bytes ?? 0) +
      sum(({ database }) => database?.size_bytes ?? 0) +
      (bucket === null ? sum(({ blobs }) => blobs.size_bytes) : 0),
    bucket,
    key_included: key !== null,
    damage: damageIn(manifest),
    ledgers: projects
      .filter(({ database }) => database !== null)
      .map(({ id, slug, position, ledger }) => ({ project: id, slug, position, ledger })),
  };
}

function linesOf(task: 'backup' | 'restore', summary: Summary): string {
  const { folder, data, created_at, projects, blobs, size_bytes, bucket } = summary;
  const what = [
    pluralize(projects, 'project'),
    pluralize(blobs, 'blob'),
    pluralize(size_bytes, 'byte'),
  ].join(', ');
  const elsewhere =
    bucket === null
      ? ''
      : `The blobs are in ${bucket}, not in this backup: keep that bucket too.\n`;
  const done =
    task === 'backup'
      ? `Backed up ${data} to ${folder}: ${what}.`
      : `Restored ${data} from ${folder} of ${created_at}: ${what}. Each ledger ends where it did in the backup.`;
  return `${[done, ...ledgerLines(summary)].join('\n')}\n${elsewhere}`;
}

/** Where each ledger ends, in the form of `svc ledger verify`. */
function ledgerLines({ ledgers }: Summary): string[] {
  const lines = ledgers.slice(0, LEDGERS_SHOWN_MAX).map(({ slug, ledger }) => {
    if (ledger === null) return `  ${slug}: the ledger is empty`;
    const { seq, hash, at } = ledger;
    const time = at === undefined ? '' : ` (${at})`;
    return `  ${slug}: head #${seq} ${hash.slice(0, HASH_CHARS)}…${time}`;
  });
  const more = ledgers.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more: manifest.json has all`] : lines;
}

/** Say it now, not on the day when the backup is needed. */
function aboutKey(masterKeyFile: string | null, { key_included, data }: Summary): string {
  return key_included
    ? 'THE MASTER KEY IS IN THIS BACKUP: anyone who has the folder can read every stored secret.\n'
    : `THE MASTER KEY IS NOT IN THIS BACKUP. Keep a copy of ${masterKeyFile ?? `${data}/master.key`} somewhere else: without it no secret can be opened again.\n`;
}

main().catch((error: unknown) => {
  if (error instanceof Error && error.name === 'AbortError') {
    process.stderr.write('svc: interrupted; nothing was left behind.\n');
    process.exit(EXIT_INTERRUPTED);
  }
  process.stderr.write(`svc: ${textOf(error)}\n`);
  process.exit(error instanceof InterruptedRekeyError ? EXIT_INTERRUPTED : 1);
});

/** Shows a stack only for unexpected errors. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error instanceof AdminError) return error.message;
  if (!(error instanceof ServiceError) || error.code !== 'UNAVAILABLE') {
    return startFailureText(error);
  }
  const reason = errorCode(cause) ?? (cause instanceof Error ? cause.message : '');
  return `The database server returned an error: see SVC_DATABASE_URL. ${reason}`.trim();
}
