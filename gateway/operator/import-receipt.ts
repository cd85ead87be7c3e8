import { hash } from 'node:crypto';

/** How a receipt looks. */
export const IMPORT_RECEIPT = /^imp_[0-9a-f]{26}$/;

/**
 * What an import prints when all of a project is in place, and the old gateway asks for before it closes the project. It
 * depends on the newest entry of the ledger, so the receipt of a copy from before the last write doesn't fit.
 */
export function importReceipt(
  projectId: string,
  head: { readonly seq: number; readonly hash: string } | null,
): string {
  const imported = hash('sha256', `imported ${projectId} ${head?.seq ?? 0} ${head?.hash ?? ''}`);
  return `imp_${imported.slice(0, 26)}`;
}
