import type { CommandModule } from '../command.ts';
import { runOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import { emailView } from '../view/email.ts';

/** `svc email status`: what became of the messages of one call. */
export function emailStatus(shape: OperationShape): CommandModule {
  return { run: (context) => runOperation(shape, context, emailView) };
}
