import type { Answer, OperationName } from '../call/answers.ts';
import { EXIT } from '../exit.ts';
import { callOperation, type OperationRunner } from '../call/operation-command.ts';
import type { View } from '../view/output.ts';
import { warn } from '../view/warnings.ts';

/** Runs an operation whose answer shows a secret only once. */
export function showingSecret<N extends OperationName>(
  viewOf: (answer: Answer<N>) => View,
): OperationRunner<N> {
  return async (context, shape) => {
    const { options, output } = context;
    const answer = await callOperation(shape, context);
    output.answer(answer, viewOf(answer));
    warn(context, answer);
    // In a terminal the view says this.
    if (output.json && options['json'] !== true) {
      output.note("You won't see the secret again: store it where the receiver checks signatures.");
    }
    return EXIT.done;
  };
}
