import type { Happening } from './world.ts';

/** Where an agent has a value from. A value that comes from nowhere is a fault of our wording. */
export type Value =
  /** The goal says it. */
  | { readonly goal: unknown }
  /** The tool's schema lists it: a choice, a default, an example, or a limit. */
  | { readonly listed: unknown }
  /** An answer has it at this path: the newest answer, or that of the step `of`, from 0. */
  | { readonly read: string; readonly of?: number }
  /** The agent's own words. The schema must leave it free. */
  | { readonly own: unknown }
  /** Texts put together, such as `evt_…/` and a name. */
  | { readonly joined: readonly Value[] }
  | { readonly list: readonly Value[] }
  | { readonly object: Readonly<Record<string, Value>> };

/** The words that lead to a step, and where the agent has read them. */
export interface Clue {
  /** `tool`: the description and schema of the step's tool. `answer`: the newest answer, or that of the step `of`. */
  readonly in: 'goal' | 'instructions' | 'tool' | 'answer';
  readonly of?: number;
  readonly says: string;
}

export interface Step {
  readonly tool: string;
  readonly because: Clue;
  readonly args: Readonly<Record<string, Value>>;
  /** The agent slips here: it calls what the list doesn't show. The answer must bring it back. */
  readonly slip?: true;
  /** What the answer has at these paths. `…` stands for anything. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** The code of the refusal. */
  readonly refused?: string;
  /** What happens before the next step. */
  readonly meanwhile?: Happening;
}

/** Something that a person gives an agent to do, and how a good agent does it. */
export interface Task {
  readonly name: string;
  /** In plain words; `{event}` is the id of the event that happened last. */
  readonly goal: string;
  readonly given?: readonly Happening[];
  /** The scopes of the key (default: all that an agent may have). */
  readonly scopes?: readonly string[];
  readonly steps: readonly Step[];
}
