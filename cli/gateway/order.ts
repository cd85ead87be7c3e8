import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { badAnswer } from '../errors.ts';
import { textArgument } from '../input/option-values.ts';

type Order = 'block' | 'unblock' | 'hold' | 'release' | 'moved' | 'delete';

/** The path of an order about the named project. */
export function orderPath(context: CommandContext, order: Order): string {
  return `/projects/${encodeURIComponent(textArgument(context, 'name') ?? '')}/${order}`;
}

interface Words {
  readonly changed: (slug: string, id: string) => string;
  /** Nothing changed. */
  readonly same: (slug: string) => string;
}

/** Prints an order's result: the answer, or a sentence. */
export function tellOrder({ output }: CommandContext, answer: unknown, words: Words): void {
  const project = isObject(answer) ? answer['project'] : null;
  if (!isObject(answer) || !isObject(project))
    throw badAnswer("The answer doesn't name a project.");
  if (output.json) {
    output.answer(answer);
    return;
  }
  const say = answer['changed'] === true ? words.changed : words.same;
  output.advise(say(String(project['slug']), String(project['id'])));
}
