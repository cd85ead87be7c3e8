import { isObject } from '../../../shared/lib/guards.ts';
import type { CommandContext } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { callOperation } from '../../operation-command.ts';
import type { OperationShape } from '../../operation-shape.ts';
import type { View } from '../../view/output.ts';
import { age, timeText } from '../../view/table.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';
import { wholeTable } from '../../disk/columns.ts';

/** `svc source list`: with each source's address. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, sourceListView(answer));
  return EXIT.done;
}

const COLUMNS = [
  { head: 'NAME' },
  { head: 'VERIFICATION' },
  { head: 'LAST' },
  { head: '24 H', right: true },
  { head: 'REFUSED', right: true },
  { head: 'ADDED BY' },
  { head: 'ADDRESS' },
] as const;

/** Shows addresses uncut, so that they can be copied. */
function sourceListView(answer: unknown): View {
  const items: unknown = isObject(answer) ? answer['items'] : null;
  if (!Array.isArray(items) || items.length === 0) return {};
  return {
    lines: (look) => [
      ...wholeTable(
        COLUMNS,
        items.filter(isObject).map((source) => {
          const { last_event_at: last, address, url } = source;
          return [
            plainText(source['name']),
            // Mail senders have no shared secret; DKIM checks their domain's signature.
            source['type'] === 'email' ? 'dkim' : plainText(source['verification']),
            typeof last === 'string' ? age(last, look.now) : '–',
            plainText(source['events_24h']),
            plainText(source['rejected_24h']),
            plainText(source['maker']),
            plainText(address ?? url),
          ];
        }),
        look,
      ),
      ...items.filter(isObject).flatMap((source) => changingOver(source, look.now)),
      ...items.filter(isObject).flatMap(limitedLine),
    ],
  };
}

function changingOver(source: Readonly<Record<string, unknown>>, now: number): string[] {
  const { name, previous_secret_valid_until: until } = source;
  if (typeof until !== 'string') return [];
  const time = safeLine(timeText(until, now));
  return [`${plainText(name)} also accepts its previous secret until ${time}.`];
}

function limitedLine({ name, limited }: Readonly<Record<string, unknown>>): string[] {
  if (!isObject(limited)) return [];
  return [`${plainText(name)} has reached a limit, and its senders must wait: svc usage shows it.`];
}
