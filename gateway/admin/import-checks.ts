import { isReservedSlug, SLUG, SLUG_MAX_CHARS } from '../../shared/rules/slug.ts';
import type { MovingProject } from '../store/control/moves.ts';
import { newestSchema } from '../../shared/store/migrate.ts';
import { strangePart } from '../store/own-schema.ts';
import { accountHashText, accountAad } from '../auth/logins.ts';
import { createVault } from '../lib/vault.ts';
import { AdminError } from './admin-error.ts';
import type { ProjectCopy } from './project-copy.ts';
import type { ProjectManifest } from './project-manifest.ts';

// An export carries digests and no signature: whoever makes one up gets them right.

/** Throws an `AdminError` for a slug that signing in would not give either. */
export function refuseSlug({ project: { slug } }: MovingProject): void {
  if (SLUG.test(slug) && slug.length <= SLUG_MAX_CHARS && !isReservedSlug(slug)) return;
  throw new AdminError(
    `${slug} cannot be a slug: up to ${SLUG_MAX_CHARS} lower-case letters, digits and single hyphens, and none that the service uses. Give another one: --slug NEW`,
  );
}

/** Throws an `AdminError` for an account that no sign-in has made: it would stand in the way of whoever has the address. */
export function refuseAccount({ account }: MovingProject, masterKey: Uint8Array): void {
  if (!account) return;
  const vault = createVault(masterKey);
  let address: string;
  try {
    address = Buffer.from(vault.open(accountAad(account.id), account.address)).toString();
  } catch (error) {
    throw strangeAccount(error);
  }
  if (vault.sign(accountHashText(address)) !== account.address_hash) throw strangeAccount();
}

function strangeAccount(cause?: unknown): AdminError {
  return new AdminError(
    'The manifest is damaged: its account was not sealed with this master key, or is not that of its address.',
    { cause },
  );
}

/** Throws an `AdminError` for a database that is not as this release, or an earlier one, has made it. */
export async function refuseBroken(
  copy: ProjectCopy,
  {
    path,
    from,
    manifest,
    masterKey,
  }: {
    readonly path: string;
    /** What to call it. */
    readonly from: string;
    readonly manifest: ProjectManifest;
    readonly masterKey: Uint8Array;
  },
): Promise<void> {
  const [schema, newest] = [await copy.schema(), newestSchema('project')];
  if (schema > newest) {
    throw new AdminError(
      `${from} has schema ${schema}, newer than ${newest}: update svc before importing it.`,
    );
  }
  const strange = strangePart(path);
  if (strange !== null) {
    throw new AdminError(`${from} is not as svc has made it: ${JSON.stringify(strange)}.`);
  }
  const problem = await copy.ledgerProblem(manifest.ledger);
  if (problem !== null) throw new AdminError(`${from}: ${problem}.`);
  if (!(await copy.opensWith(masterKey))) {
    throw new AdminError(
      `This is not the master key that the secrets of the project were sealed with. Name the right one by SVC_MASTER_KEY_FILE.`,
    );
  }
}
