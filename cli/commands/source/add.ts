import type { Additions } from '../../command.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { showing } from '../../operation-command.ts';
import { setupLines } from '../../view/source-steps.ts';
import { readableView } from '../../view/view.ts';

export const declaration: Additions = {
  seeAlso: ['trigger', 'source get', 'source list', 'inbox wait'],
};

/** `svc source add`: the source, then how to connect its sender. */
export const run = showing((source) =>
  isObject(source)
    ? {
        lines: (look) => [...readableView(source, {}, look), '', ...setupLines(source, look)],
      }
    : {},
);
