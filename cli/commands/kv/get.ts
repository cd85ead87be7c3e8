import type { Additions } from '../../command.ts';

export const declaration: Additions = {
  seeAlso: ['kv set', 'kv list', 'help exit-codes'],
};
