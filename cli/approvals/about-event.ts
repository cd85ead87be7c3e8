import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { textOption } from '../input/option-values.ts';

/** The event that the command of `svc inbox work` runs for, and its lease. */
export function ownEvent({ env }: Pick<CommandContext, 'env'>): {
  readonly event: string | undefined;
  readonly lease: string | undefined;
} {
  return { event: env['SVC_EVENT_ID'] || undefined, lease: env['SVC_LEASE_ID'] || undefined };
}

/**
 * Adds the worker's event to the input, but only if the user ties the question to it (--park, --event or --bind).
 * SVC_EVENT_ID alone doesn't: a worker asking about something else would get an earlier answer.
 */
export function aboutEvent(context: CommandContext): CommandContext {
  const { options } = context;
  const park = options['park'] === 'true';
  refuseMisfits(context, park);
  const named = textOption(context, 'event');
  const isTied = park || named !== undefined || options['bind'] !== undefined;
  const own = ownEvent(context);
  const event = named ?? own.event;
  if (park && event === undefined) {
    throw usageError(
      '--park needs an event.',
      'svc inbox work names its event to the command. Or name one you claimed: --event evt_…',
    );
  }
  if (!isTied || event === undefined) return context;
  const lease = textOption(context, 'lease-id') ?? (event === own.event ? own.lease : undefined);
  const filled = { ...options, event, ...(lease !== undefined && { 'lease-id': lease }) };
  return { ...context, options: filled };
}

function refuseMisfits({ options }: CommandContext, park: boolean): void {
  if (park && options['until-decided'] === true) {
    throw usageError("--park and --until-decided don't go together.", 'Park, or wait.');
  }
  if (!park && options['state'] !== undefined) throw usageError('--state only works with --park.');
}

/** Explains in help how `--park` works. */
export const PARKS =
  "With --park the event is given back and waits for the answer instead of you: exit code 6, and svc inbox work runs its command again from the top once someone has decided. Asking again about an event finds the first question and its answer. The event and its lease come from svc inbox work's environment; SVC_EVENT_ID alone ties no question to an event.";
