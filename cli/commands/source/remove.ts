import type { Additions } from '../../command.ts';

export const declaration: Additions = {
  stored: { name: 'sources' },
};
