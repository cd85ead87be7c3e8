import { isReservedSlug, SLUG, SLUG_MAX_CHARS } from '../../../shared/rules/slug.ts';
import type { MovingProject } from '../../store/control/moves.ts';
import { newestSchema } from '../../../shared/store/engine/migrate.ts';
import { strangePart } from '../../store/own-schema.ts';
import { accountHashText, accountAad } from '../../auth/logins.ts';
import { createVault } from '../../lib/vault.ts';
import { AdminError } from '../admin-error.ts';
import type { ProjectCopy } from '../backup/project-copy.ts';
import type { ProjectManifest } from './project-manifest.ts';

// An export has digests but no signature, so a forged one has the right digests.

/** Throws an `AdminError` for a slug that sign-in wouldn't accept. */
export function refuseSlug({ project: { slug } }: MovingProject): void {
  if (SLUG.test(slug) && slug.length <= SLUG_MAX_CHARS && !isReservedSlug(slug)) return;
  throw new AdminError(
    `${slug} can't be a slug. Use up to ${SLUG_MAX_CHARS} lowercase letters, digits and single hyphens, and no name that svc itself uses: --slug NEW`,
  );
}

/** Throws an `AdminError` for an account that sign-in can't have created: it would block the address's real owner. */
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
    "The manifest is damaged: its account wasn't sealed with this master key, or belongs to another address.",
    { cause },
  );
}

/** Throws an `AdminError` for a database that neither this nor an earlier release can have created. */
export async function refuseBroken(
  copy: ProjectCopy,
  {
    path,
    from,
    manifest,
    masterKey,
  }: {
    readonly path: string;
    /** Its name in messages. */
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
    throw new AdminError(`${from} isn't what svc created: ${JSON.stringify(strange)}.`);
  }
  const problem = await copy.ledgerProblem(manifest.ledger);
  if (problem !== null) throw new AdminError(`${from}: ${problem}.`);
  if (!(await copy.opensWith(masterKey))) {
    throw new AdminError(
      `This isn't the master key that the project's secrets were sealed with. Name the right one with SVC_MASTER_KEY_FILE.`,
    );
  }
}
