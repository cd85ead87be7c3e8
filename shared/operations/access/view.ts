import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import { MADE_KINDS } from '../../rules/made-kinds.ts';
import type { MadeRow } from '../../store/tables/access/makers.ts';

/** Something that gives access without its maker: a key, a route, an invitation, a link. */
export const madeThing = named(
  'MadeThing',
  z
    .object({
      kind: z.enum(MADE_KINDS).describe('What it is.'),
      id: z.string().describe('Its id; for a source its name.'),
      name: z.string().describe('What people call it: a name, an address, a URL or a path.'),
    })
    .describe('Something that gives access on its own, once somebody has made it.'),
);

/** Something that went on, and how to end it. */
export const leftThing = named(
  'LeftThing',
  madeThing
    .extend({ hint: z.string().describe('Why it goes on, and how to end it.') })
    .describe('Something that goes on after its maker has ended.'),
);

export type MadeThing = z.output<typeof madeThing>;
export type LeftThing = z.output<typeof leftThing>;

/** What became of everything that a maker had made. */
export interface Aftermath {
  readonly ended: MadeThing[];
  readonly left: LeftThing[];
}

export const aftermathFields = {
  ended: z.array(madeThing).describe('What ended with it.'),
  left: z.array(leftThing).describe('What goes on, each with how to end it.'),
};

/** Callers know a source by its name. */
export function toMadeThing({ kind, id, name }: MadeRow): MadeThing {
  return { kind, id: kind === 'source' ? name : id, name };
}
