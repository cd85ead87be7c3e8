import type { Additions, CommandContext } from '../../command.ts';
import { printFile } from '../../disk/print-file.ts';
import { EXIT } from '../../exit.ts';
import { WATCH_OPTION } from '../../input/flags.ts';
import { switchOption, textArgument } from '../../input/option-values.ts';
import { runOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { detailOf, HEADERS } from '../../work/whole-event.ts';

export const declaration: Additions = {
  moreOptions: [
    HEADERS,
    { flag: 'raw', summary: 'Print the body of a webhook, byte for byte as it came.' },
    WATCH_OPTION,
  ],
  moreExamples: ['inbox get evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --raw > body'],
};

/** `svc inbox get`: what the event is about comes first. */
export function run(context: CommandContext, shape: OperationShape<'inbox_get'>): Promise<number> {
  if (switchOption(context, 'raw')) return printBody(context);
  return runOperation(shape, context, (answer) => detailOf(context, answer));
}

async function printBody(context: CommandContext): Promise<number> {
  const id = textArgument(context, 'event_id') ?? '';
  const { client, signal } = context;
  const link = await client().call('inbox_link', { event_id: id }, { signal });
  const content = { kind: 'link', url: link.body_url } as const;
  await printFile(context, { path: id, sizeBytes: link.size_bytes, sha256: null, content });
  return EXIT.done;
}
