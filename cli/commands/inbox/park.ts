import { ownEvent } from '../../approvals/about-event.ts';
import type { CommandContext, Declaration } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { listOption, switchOption, textArgument, textOption } from '../../input/option-values.ts';
import { conditionsOf, fieldValue, StandardInput } from '../../input/values.ts';
import { parkView } from '../../view/parks.ts';

export const declaration: Declaration = {
  summary: 'Give a claimed event back until something ends.',
  description:
    "The event waits, which counts as no failure; the next claim returns the answers and the state as `resumed`. Without <event_id> it's the event that svc inbox work runs your command for, which runs again from the top when the event goes on. An event can be parked 25 times. Exit code 0: parked, or pending again since everything has ended; 1: dead, parked too often. To ask a person and park in one step: svc ask approval … --park",
  args: [
    {
      name: 'event_id',
      required: false,
      summary: 'The event, `evt_…` (default SVC_EVENT_ID)',
      stored: 'claimed',
    },
  ],
  options: [
    {
      flag: 'until',
      value: 'A,B,…',
      summary:
        "What it waits for, up to 5: a request `req_…`, an event `evt_…`, mail `msg_…` or `bat_…`, a time or `+2h`; `now` gives it back at once. It goes on when all have ended, or the first isn't a yes",
      repeatable: true,
      stored: 'requests',
    },
    { flag: 'any', summary: 'Go on when the first of them ends' },
    {
      flag: 'state',
      value: 'JSON',
      summary: 'JSON for the next claim, up to 16 KB (JSON, @file or -)',
    },
    {
      flag: 'lease-id',
      value: 'VALUE',
      summary: 'The lease_id of your claim; any other is refused (default SVC_LEASE_ID)',
    },
  ],
  writes: true,
  examples: [
    'inbox park --until +2h',
    'inbox park evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --until req_01j9z3k4m5n6p7q8r9s0t1v2w3',
    'inbox park --until req_01j9z3k4m5n6p7q8r9s0t1v2w3 --until +1d --any --state @progress.json',
  ],
  seeAlso: ['ask approval', 'inbox work', 'inbox requeue', 'request list'],
};

export async function run(context: CommandContext): Promise<number> {
  const { client, output, signal } = context;
  const own = ownEvent(context);
  const event = textArgument(context, 'event_id') ?? own.event;
  if (event === undefined) {
    throw usageError('<event_id> is missing.', 'svc inbox work sets it as SVC_EVENT_ID.');
  }
  const until = conditionsOf(listOption(context, 'until'));
  if (until.length === 0) throw usageError('--until is missing.', 'For example: --until +2h');
  const lease = textOption(context, 'lease-id') ?? (event === own.event ? own.lease : undefined);
  const state = await stateOf(context);
  const input = {
    event_id: event,
    ...(lease !== undefined && { lease_id: lease }),
    until,
    any: switchOption(context, 'any'),
    ...(state !== undefined && { state }),
  };
  const answer = await client().call('inbox_nack', input, { signal });
  output.answer(answer, parkView(answer));
  return answer.status === 'dead' ? EXIT.refused : EXIT.done;
}

async function stateOf(context: CommandContext): Promise<unknown> {
  const given = textOption(context, 'state');
  if (given === undefined) return undefined;
  const field = { name: 'state', type: 'json', summary: '', required: false } as const;
  return fieldValue(field, given, new StandardInput(context.signal));
}
