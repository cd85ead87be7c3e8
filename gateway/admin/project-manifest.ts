import * as z from 'zod';
import { projectInput } from '../../shared/api/sign-in.ts';
import { SLUG } from '../../shared/rules/slug.ts';
import { AdminError } from './admin-error.ts';
import { count, digest, projectId, readContent, storedFile } from './manifest.ts';

/** Goes up when an export of an earlier release can no longer be read as it was meant. */
const FORMAT = 1;
const KIND = 'project';

const projectManifest = z.object({
  kind: z.literal(KIND),
  format: z.literal(FORMAT),
  version: z.string(),
  created_at: z.string(),
  /** Nothing was written to it after it was copied, unless it was released. */
  held: z.boolean(),
  project: z.object({
    id: projectId,
    slug: z.string().regex(SLUG),
    name: projectInput.shape.name,
    created_at: z.iso.datetime(),
  }),
  /** Whose it is, null for a project of the machine. The address is sealed, as base64. */
  account: z
    .object({
      id: z.string(),
      address: z.base64(),
      address_hash: z.string(),
      created_at: z.string(),
    })
    .nullable(),
  /** Names the master key that its secrets are sealed with: see `fingerprintOf`. */
  master_key: z.string().regex(/^[0-9a-f]{8}$/),
  database: storedFile,
  position: count,
  ledger: z.object({ seq: count, hash: digest }).nullable(),
  blobs: z.object({ count, size_bytes: count }),
});

export type ProjectManifest = z.infer<typeof projectManifest>;

export function projectManifestOf(
  content: Omit<ProjectManifest, 'kind' | 'format'>,
): ProjectManifest {
  return { kind: KIND, format: FORMAT, ...content };
}

/** Throws an `AdminError` for what is no export of a project, was damaged, or was made by a newer release. */
export function readProjectManifest(folder: string): ProjectManifest {
  const kind = z.looseObject({ kind: z.string().optional() });
  const found = readContent(folder, { schema: kind, what: 'export of a project' });
  if (found.kind === undefined) {
    throw new AdminError(
      `${folder} is a backup of a whole gateway. Restore it into an empty data folder: svc gateway restore ${folder}`,
    );
  }
  return readContent(folder, { schema: projectManifest, what: 'export of a project' });
}
