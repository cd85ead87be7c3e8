import type { Additions } from '../../command.ts';

export const declaration: Additions = {
  stored: { event_id: 'claimed' },
  seeAlso: ['inbox nack', 'inbox claim'],
};
