import type { Additions } from '../../command.ts';

export const declaration: Additions = {
  seeAlso: ['whoami', 'ledger query'],
};
