import { resolve } from 'node:path';
import { importReceipt } from '../../operator/import-receipt.ts';
import { AdminError } from '../admin-error.ts';
import { exportProject } from './export.ts';
import { importProject } from './import.ts';
import { progressOn } from '../progress.ts';
import type { ProjectManifest } from './project-manifest.ts';
import type { AdminSettings } from '../settings.ts';
import { pluralize } from '../../../shared/lib/pluralize.ts';

/** An operator's command as typed. */
export interface AdminCall {
  readonly settings: AdminSettings;
  readonly names: readonly string[];
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** `export PROJECT FOLDER` */
export async function runExport({
  settings,
  names,
  json,
  signal,
  hold,
}: AdminCall & { readonly hold: boolean }): Promise<void> {
  const [project, name] = names;
  if (project === undefined || name === undefined) {
    throw new AdminError('Usage: export PROJECT FOLDER [--hold]');
  }
  const folder = resolve(name);
  const manifest = await exportProject({
    settings,
    project,
    folder,
    hold,
    now: Date.now(),
    signal,
    onHeld: (slug) =>
      process.stderr.write(
        `${slug} is on hold: read-only. To end the hold: svc gateway project release ${slug}\n`,
      ),
    onProgress: progressOn(process.stderr, 'Exporting', 'blob'),
    onRows: progressOn(process.stderr, 'Exporting', 'row'),
  });
  if (json) {
    tell({ folder, ...summaryOf(manifest) });
    return;
  }
  process.stdout.write(`Exported ${about(manifest)} to ${folder}.\n`);
  process.stdout.write(
    `Its secrets are sealed with the master key ${manifest.master_key}: the other gateway must have the same.\n`,
  );
}

/** `import FOLDER` */
export async function runImport({
  settings,
  names,
  json,
  signal,
  slug,
}: AdminCall & { readonly slug: string | null }): Promise<void> {
  const [name] = names;
  if (name === undefined) throw new AdminError('Usage: import FOLDER [--slug SLUG]');
  const folder = resolve(name);
  const manifest = await importProject({
    settings,
    folder,
    slug,
    signal,
    onProgress: progressOn(process.stderr, 'Importing', 'blob'),
    onRows: progressOn(process.stderr, 'Importing', 'row'),
  });
  const receipt = importReceipt(manifest.project.id, manifest.ledger);
  if (json) {
    tell({ folder, data: settings.dataFolder, ...summaryOf(manifest), receipt });
    return;
  }
  process.stdout.write(`Imported ${about(manifest)} from ${folder}. It is active here.\n`);
  process.stderr.write(
    `Once you have checked it, run at the old gateway: svc gateway project moved ${manifest.project.slug} --to URL --receipt ${receipt}\n`,
  );
}

function summaryOf(manifest: ProjectManifest) {
  const { project, created_at, held, position, ledger, blobs, database, master_key } = manifest;
  return {
    project,
    created_at,
    held,
    position,
    ledger,
    blobs: blobs.count,
    size_bytes: database.size_bytes + blobs.size_bytes,
    master_key,
  };
}

function about({ project, ledger, blobs, database }: ProjectManifest): string {
  const bytes = database.size_bytes + blobs.size_bytes;
  return `${project.slug} (${project.id}): ${pluralize(blobs.count, 'blob')}, ${pluralize(bytes, 'byte')}, ledger up to entry ${ledger?.seq ?? 0}`;
}

function tell(summary: object): void {
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}
