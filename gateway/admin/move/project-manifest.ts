import * as z from 'zod';
import { projectInput } from '../../../shared/api/sign-in.ts';
import { SLUG } from '../../../shared/rules/slug.ts';
import { AdminError } from '../admin-error.ts';
import { count, ledgerHead, projectId, readContent, storedFile } from '../backup/manifest.ts';

/** Incremented when exports of earlier releases would be misread. */
const FORMAT = 1;
const KIND = 'project';

const projectManifest = z.object({
  kind: z.literal(KIND),
  format: z.literal(FORMAT),
  version: z.string(),
  created_at: z.string(),
  /** The project was read-only when it was copied, so nothing was written after that unless it was released. */
  held: z.boolean(),
  project: z.object({
    id: projectId,
    slug: z.string().regex(SLUG),
    name: projectInput.shape.name,
    created_at: z.iso.datetime(),
  }),
  /** The owner; null for a project of the machine. The address is sealed, in base64. */
  account: z
    .object({
      id: z.string(),
      address: z.base64(),
      address_hash: z.string(),
      created_at: z.string(),
    })
    .nullable(),
  /** The fingerprint of the master key that sealed its secrets: see `fingerprintOf`. */
  master_key: z.string().regex(/^[0-9a-f]{8}$/),
  database: storedFile,
  position: count,
  ledger: ledgerHead.nullable(),
  blobs: z.object({ count, size_bytes: count }),
});

export type ProjectManifest = z.infer<typeof projectManifest>;

export function projectManifestOf(
  content: Omit<ProjectManifest, 'kind' | 'format'>,
): ProjectManifest {
  return { kind: KIND, format: FORMAT, ...content };
}

/** Throws an `AdminError` if it isn't an export of a project, is damaged, or is from a newer release. */
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
