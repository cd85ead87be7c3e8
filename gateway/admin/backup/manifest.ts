import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { AdminError } from '../admin-error.ts';

/** Incremented when backups of earlier releases would be misread. */
const FORMAT = 1;
const FILE = 'manifest.json';
/** The SHA-256 of the manifest itself, in the format of `sha256sum -c`. */
const SUM_FILE = 'manifest.sha256';

const digest = z.string().regex(/^[0-9a-f]{64}$/);
export const count = z.int().min(0);
export const projectId = z.string().regex(/^prj_[0-9a-z]{16}$/);

export const storedFile = z.object({ size_bytes: count, sha256: digest });

/** The newest entry of a ledger. Copies of earlier releases don't say its time. */
export const ledgerHead = z.object({ seq: count, hash: digest, at: z.string().optional() });

/** A file of the data folder that couldn't be copied. */
const damagedFile = z.object({ file: z.string(), what: z.string(), problem: z.string() });

const projectEntry = z.object({
  id: projectId,
  slug: z.string(),
  /** Null for a project whose creation was interrupted or that has moved. */
  database: storedFile.nullable(),
  position: count,
  ledger: ledgerHead.nullable(),
  blobs: z.object({
    count,
    size_bytes: count,
    /** Where they are in the bucket; absent if they're in the backup. */
    keys: z.array(z.string()).optional(),
  }),
  /** What the backup lacks because it was damaged; absent if it lacks nothing. */
  damage: z.array(damagedFile).optional(),
});

const manifest = z.object({
  format: z.literal(FORMAT),
  version: z.string(),
  created_at: z.string(),
  /** The bucket that holds the blobs; null if the backup contains them. */
  bucket: z.string().nullable(),
  /** The file with the master key; null if it isn't in the backup. */
  key: storedFile.nullable(),
  /** Null if it was damaged; then `damage` says so. */
  control: storedFile.nullable(),
  /** What the backup lacks of the gateway's own files. */
  damage: z.array(damagedFile).optional(),
  projects: z.array(projectEntry),
});

export type Manifest = z.infer<typeof manifest>;
export type ProjectEntry = z.infer<typeof projectEntry>;
export type DamagedFile = z.infer<typeof damagedFile>;
export type StoredFile = z.infer<typeof storedFile>;

/** Everything that a backup lacks. `project` is null for what is the gateway's own. */
export function damageIn({
  damage: own = [],
  projects,
}: Pick<Manifest, 'damage' | 'projects'>): (DamagedFile & { readonly project: string | null })[] {
  return [{ id: null, damage: own }, ...projects].flatMap(({ id, damage = [] }) =>
    damage.map((one) => ({ ...one, project: id })),
  );
}

export function manifestOf(content: Omit<Manifest, 'format'>): Manifest {
  return { format: FORMAT, ...content };
}

/** Returns the files it wrote. */
export function writeManifest(folder: string, content: object): string[] {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  const files = [join(folder, FILE), join(folder, SUM_FILE)];
  writeFileSync(join(folder, FILE), text, { mode: 0o600 });
  writeFileSync(join(folder, SUM_FILE), `${hash('sha256', text)}  ${FILE}\n`, { mode: 0o600 });
  return files;
}

/** Throws an `AdminError` if it isn't a backup, is damaged, or is from a newer release. */
export function readManifest(folder: string): Manifest {
  return readContent(folder, { schema: manifest, what: 'backup' });
}

/** Reads and checks a folder's manifest; throws an `AdminError` if it's invalid. */
export function readContent<T>(
  folder: string,
  { schema, what }: { readonly schema: z.ZodType<T>; readonly what: string },
): T {
  const text = readText(folder, { file: FILE, what });
  const [sum] = readText(folder, { file: SUM_FILE, what }).split(' ');
  if (hash('sha256', text) !== sum) {
    throw new AdminError(`${join(folder, FILE)} is damaged: its digest doesn't match ${SUM_FILE}.`);
  }
  const value: unknown = JSON.parse(text);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problem = z.prettifyError(parsed.error);
  throw new AdminError(
    `${join(folder, FILE)} can't be read by this release of svc. Use the release that wrote it, or a newer one.\n${problem}`,
  );
}

function readText(
  folder: string,
  { file, what }: { readonly file: string; readonly what: string },
): string {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch (error) {
    throw new AdminError(`${folder} is no ${what}: ${file} cannot be read.`, { cause: error });
  }
}
