import type { Additions } from '../../command.ts';

export const declaration: Additions = {
  seeAlso: ['trigger', 'source list', 'listen'],
};
