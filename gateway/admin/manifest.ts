import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { AdminError } from './admin-error.ts';

/** Goes up when a backup of an earlier release can no longer be read as it was meant. */
const FORMAT = 1;
const FILE = 'manifest.json';
/** The SHA-256 of the manifest itself, as `sha256sum -c` reads it. */
const SUM_FILE = 'manifest.sha256';

export const digest = z.string().regex(/^[0-9a-f]{64}$/);
export const count = z.int().min(0);
export const projectId = z.string().regex(/^prj_[0-9a-z]{16}$/);

export const storedFile = z.object({ size_bytes: count, sha256: digest });

const projectEntry = z.object({
  id: projectId,
  slug: z.string(),
  /** Null for one whose making was cut short, and one that has moved. */
  database: storedFile.nullable(),
  position: count,
  ledger: z.object({ seq: count, hash: digest }).nullable(),
  blobs: z.object({
    count,
    size_bytes: count,
    /** Where they are in the bucket; absent where they are in the backup. */
    keys: z.array(z.string()).optional(),
  }),
});

const manifest = z.object({
  format: z.literal(FORMAT),
  version: z.string(),
  created_at: z.string(),
  /** Null when the backup holds the blobs itself; otherwise the bucket that holds them. */
  bucket: z.string().nullable(),
  /** The file of the master key, null when it is not in the backup. */
  key: storedFile.nullable(),
  control: storedFile,
  projects: z.array(projectEntry),
});

export type Manifest = z.infer<typeof manifest>;
export type ProjectEntry = z.infer<typeof projectEntry>;
export type StoredFile = z.infer<typeof storedFile>;

export function manifestOf(content: Omit<Manifest, 'format'>): Manifest {
  return { format: FORMAT, ...content };
}

/** Answers the files it has written. */
export function writeManifest(folder: string, content: object): string[] {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  const files = [join(folder, FILE), join(folder, SUM_FILE)];
  writeFileSync(join(folder, FILE), text, { mode: 0o600 });
  writeFileSync(join(folder, SUM_FILE), `${hash('sha256', text)}  ${FILE}\n`, { mode: 0o600 });
  return files;
}

/** Throws an `AdminError` for what is no backup, was damaged, or was made by a newer release. */
export function readManifest(folder: string): Manifest {
  return readContent(folder, { schema: manifest, what: 'backup' });
}

/** What stands in the manifest of a folder, checked; throws an `AdminError` otherwise. */
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
