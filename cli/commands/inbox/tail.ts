import type { Event } from '../../../clients/typescript/generated/types.ts';
import type { InboxEvent } from '../../call/answers.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { EXIT } from '../../exit.ts';
import { textOption } from '../../input/option-values.ts';
import { timeValue } from '../../input/times.ts';
import { gistLine } from '../../../shared/rules/inbox/gist.ts';
import type { Look } from '../../view/table.ts';
import { cutToWidth, safeJson, safeLine } from '../../view/terminal-text.ts';
import { EventTail } from '../../work/event-tail.ts';
import { SOURCE, TYPE } from '../../work/options.ts';
import { checkSource } from '../../work/source-check.ts';
import { timeThere } from '../../work/time-there.ts';
import { wholeEvent } from '../../work/whole-event.ts';

export const declaration: Declaration = {
  summary: 'Follow new events live, without claiming them.',
  description:
    'Prints one line for each event: when it came, its source, its type and what it is about; with --json, or in a pipe, the event as one line of JSON. Shows events of any status, also those that workers and routes take. Goes on after network trouble, until Ctrl-C.',
  args: [],
  options: [
    SOURCE,
    TYPE,
    {
      flag: 'since',
      value: 'TIME',
      summary: 'Begin with events received since then: a time, or a span such as `1h`.',
    },
  ],
  examples: [
    'inbox tail',
    "inbox tail --source github --type 'pull_request.*'",
    'inbox tail --since 1h',
  ],
  seeAlso: ['inbox list', 'inbox wait', 'listen', 'trigger'],
};

/** Reads at most this many whole payloads at once to say what events are about. */
const READ_AT_ONCE = 20;

/** `svc inbox tail` */
export async function run(context: CommandContext): Promise<number> {
  const { client, output, signal } = context;
  const given = textOption(context, 'since');
  const since =
    given === undefined ? await timeThere(client()) : timeValue(given, '--since', 'past');
  const tail = new EventTail({
    client: client(),
    source: textOption(context, 'source'),
    type: textOption(context, 'type'),
    since,
    signal,
    trouble: (text) => output.note(text),
  });
  output.note('Following new events. Press Ctrl-C to stop.');
  void checkSource(context);
  for await (const events of tail.batches()) {
    for (const [at, event] of events.entries()) {
      if (output.json) output.line(safeJson(event, 0));
      else await show(context, event, events.length - at <= READ_AT_ONCE);
    }
  }
  return EXIT.interrupted;
}

async function show(context: CommandContext, event: Event, mayRead: boolean): Promise<void> {
  const isLeftOut = event.payload_truncated && mayRead;
  const whole = isLeftOut ? await wholeEvent(context, event.id) : null;
  context.output.lines((look) => [lineOf(event, whole ?? event, look)]);
}

function lineOf({ received_at, source, type }: Event, whole: InboxEvent, look: Look): string {
  const time = clockText(received_at, look.now);
  const head = `${safeLine(source)}  ${safeLine(type)}`;
  const room = look.columns - time.length - 2;
  const line = cutToWidth(`${head}  ${safeLine(gistLine(whole))}`.trimEnd(), room);
  const isWhole = line.startsWith(head);
  return `${look.faint(time)}  ${isWhole ? look.bold(head) + line.slice(head.length) : line}`;
}

/** The local time, with the day if that isn't today. */
function clockText(iso: string, now: number): string {
  const at = new Date(iso);
  const time = at.toTimeString().slice(0, 8);
  if (at.toDateString() === new Date(now).toDateString()) return time;
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${month}-${day} ${time}`;
}
