import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit.ts';
import { callOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { whoamiView } from '../view/whoami.ts';

/** `whoami`, in a few lines where a person reads it. */
export function whoami(shape: OperationShape): CommandModule {
  return {
    run: async (context) => {
      const answer = await callOperation(shape, context);
      context.output.answer(answer, whoamiView(answer));
      return EXIT.done;
    },
  };
}
