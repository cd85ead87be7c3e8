import { isObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { badAnswer } from '../errors.ts';
import { textArgument } from '../input/option-values.ts';

type Order = 'block' | 'unblock' | 'hold' | 'release' | 'moved';

/** Where an order about the named project goes. */
export function orderPath(context: CommandContext, order: Order): string {
  return `/projects/${encodeURIComponent(textArgument(context, 'name') ?? '')}/${order}`;
}

interface Words {
  readonly changed: (slug: string, id: string) => string;
  /** It was so before. */
  readonly same: (slug: string) => string;
}

/** Shows what came of an order: the answer, or a line that says it. */
export function tellOrder({ output }: CommandContext, answer: unknown, words: Words): void {
  const project = isObject(answer) ? answer['project'] : null;
  if (!isObject(answer) || !isObject(project))
    throw badAnswer("The answer doesn't name a project.");
  if (output.json) {
    output.answer(answer);
    return;
  }
  const say = answer['changed'] === true ? words.changed : words.same;
  output.line(say(String(project['slug']), String(project['id'])));
}
