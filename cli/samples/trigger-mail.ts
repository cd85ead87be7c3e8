import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { listOption, switchOption, textOption } from '../input/option-values.ts';
import { deliver } from './deliver.ts';
import { mailFields, type MailFields } from './mail-fields.ts';
import type { MailKind } from './mail.ts';

/** The recipient of a sample that is only shown, without asking for the source. */
const ADDRESS_SHOWN = 'project@agents.example.com';

interface MailSource {
  readonly name: string;
  readonly address: string;
  readonly url: string;
}

/** Posts sample mails to the project's email source, unsigned. */
export async function triggerMail(
  context: CommandContext,
  kind: MailKind,
  count: number,
): Promise<number> {
  const { output, signal } = context;
  const fields = mailFields(kind, listOption(context, 'set'));
  // Build the mail first, so that a usage error comes before any call.
  const shown = kind.build(fields, ADDRESS_SHOWN);
  if (switchOption(context, 'dry-run')) {
    dryRun(context, kind, fields, { shown, count });
    return EXIT.done;
  }
  const source = await findMailSource(context);
  let event: string | null = null;
  for (let sent = 0; sent < count; sent += 1) {
    if (signal.aborted) return EXIT.interrupted;
    const { name, address, url } = source;
    const body = Buffer.from(kind.build(fields, address));
    const headers = { 'content-type': 'message/rfc822' };
    event = await deliver(context, { kind: kind.kind, source: name, url, headers, body });
  }
  if (!output.json) tellNext(context, kind, { source: source.name, event });
  return EXIT.done;
}

function tellNext(
  { output }: CommandContext,
  { isReport }: MailKind,
  { source, event }: { readonly source: string; readonly event: string | null },
): void {
  const isTaken = isReport && event === null;
  if (isReport && !isTaken) {
    output.note('The project sent no such message, so the report arrived as ordinary mail.');
  }
  output.note(`Next: svc inbox wait ${isTaken ? '--type email.bounced' : `--source ${source}`}`);
}

/** Prints the mail as it would be sent, so that it can be saved to a file. */
function dryRun(
  { options, output }: CommandContext,
  kind: MailKind,
  fields: MailFields,
  { shown, count }: { readonly shown: string; readonly count: number },
): void {
  if (options['json'] !== true) {
    if (count > 1) throw usageError('--dry-run shows one mail.', 'For several, use --json.');
    output.bytes(Buffer.from(shown));
    return;
  }
  for (let made = 0; made < count; made += 1) {
    output.answer({ kind: kind.kind, mail: kind.build(fields, ADDRESS_SHOWN) });
  }
}

async function findMailSource(context: CommandContext): Promise<MailSource> {
  const { client, signal } = context;
  const { items: sources } = await client().call('source_list', {}, { signal });
  const source = sources.find(({ type }) => type === 'email');
  const wanted = textOption(context, 'source');
  if (source === undefined) {
    throw usageError(
      'The project has no email source yet.',
      'Add one: svc source add mail --type email',
    );
  }
  const { name, address, url } = source;
  if (wanted !== undefined && wanted !== name) {
    throw usageError(`No email source named \`${wanted}\`.`, `The email source is: ${name}`);
  }
  return { name, address: address ?? ADDRESS_SHOWN, url: url ?? '' };
}
