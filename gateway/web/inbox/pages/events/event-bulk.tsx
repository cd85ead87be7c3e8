import type { JSX } from 'hono/jsx/jsx-runtime';
import { nounFor, pluralize } from '../../../../../shared/lib/pluralize.ts';
import { Icon } from '../../../ui/icons.tsx';
import { digitsOf } from '../../../ui/number.ts';
import { confirm, type Question } from '../../../ui/confirm.tsx';
import {
  isBulkAct,
  moveEvents,
  type BulkAct,
  type MovedEvents,
  type SkippedEvents,
} from './event-moves.ts';
import { openFlash, sealFlash } from '../../../ui/flash.ts';
import { Problem } from '../../../ui/parts.tsx';
import type { ActionResult, PageContext } from '../../page-context.ts';

/** A form can't name more events. */
const PICKED_MAX = 100;
const EVENT_ID = /^evt_[0-9a-z]{26}$/;
/** The name of the list in a sealed result. */
const LIST = 'events';

const ACTS: Readonly<
  Record<BulkAct, { readonly verb: string; readonly done: string; readonly effect: string }>
> = {
  replay: {
    verb: 'Replay',
    done: 'replayed',
    effect:
      'Events that are done or dead become pending again, without their result. An agent may repeat work it did before.',
  },
  requeue: {
    verb: 'Requeue',
    done: 'requeued',
    effect:
      'Events that are dead or waiting become pending again at once, and their attempts start from zero.',
  },
  discard: {
    verb: 'Discard',
    done: 'discarded',
    effect:
      'No agent gets them any more. They count as done, and you can replay them later. Events that an agent is working on stay.',
  },
};

/** What can be done with the selected events. */
export function BulkBar(): JSX.Element {
  return (
    <div class="bulkbar" role="group" aria-label="Selected events">
      <span data-picked>Selected events:</span>
      <button type="button" class="link" data-pick-all>
        Select all
      </button>
      {(Object.keys(ACTS) as BulkAct[]).map((act) => (
        <button class="btn small" name="act" value={act}>
          {ACTS[act].verb}
        </button>
      ))}
    </div>
  );
}

/** Asks first, then acts on the events that the form names. */
export async function actOnEvents(context: PageContext, body: string): Promise<ActionResult> {
  const form = new URLSearchParams(body);
  const [act = '', ...more] = form.getAll('act');
  const ids = [...new Set(form.getAll('event'))];
  const isOurs = isBulkAct(act) && more.length === 0 && ids.every((id) => EVENT_ID.test(id));
  if (!isOurs) return refused(context, 400, 'We couldn’t read the form. Nothing was done.');
  if (ids.length === 0) return refused(context, 422, 'Select at least one event.');
  if (ids.length > PICKED_MAX) {
    return refused(context, 422, `Select at most ${PICKED_MAX} events. Nothing was done.`);
  }
  if (form.get('sure') !== 'yes') return ask(context, act, ids);
  const moved = await moveEvents(context, act, ids);
  const told = sealFlash(context, LIST, { act, ...moved });
  return { to: `${context.at('events')}?${new URLSearchParams({ told }).toString()}` };
}

function refused(context: PageContext, status: number, problem: string): ActionResult {
  const content = (
    <div class="stack narrow" data-keep>
      <h1>Nothing was done</h1>
      <Problem text={problem} />
      <a class="btn small" href={context.at('events')} data-up>
        All events
      </a>
    </div>
  );
  return { title: 'Nothing was done', content, status };
}

function ask(context: PageContext, act: BulkAct, ids: readonly string[]): ActionResult {
  const { verb, effect } = ACTS[act];
  const count = pluralize(ids.length, 'event');
  const question: Question = {
    heading: `${verb} ${count}?`,
    consequences: effect,
    hidden: [['sure', 'yes'], ...ids.map((id) => ['event', id] as const)],
    yes: `Yes, ${verb.toLowerCase()} ${count}`,
    tone: act === 'discard' ? 'no' : 'yes',
  };
  const page = confirm(context, question, { act, back: context.at('events') });
  return { ...page, content: <div data-keep>{page.content}</div> };
}

/** What became of the events of the last form. */
export function bulkResult(context: PageContext): JSX.Element | null {
  const flash = openFlash(context, LIST) as (MovedEvents & { readonly act: BulkAct }) | null;
  if (!flash) return null;
  const { act, moved, skipped } = flash;
  const { done } = ACTS[act];
  return (
    <div class={skipped.length > 0 ? 'note warn' : 'note good'} role="status">
      <Icon name={skipped.length > 0 ? 'warn' : 'yes'} />
      <div>
        <p>
          {moved === 0 ? 'No events were' : `${digitsOf(moved)} ${nounFor(moved, 'event')}`} {done}.
        </p>
        {skipped.map((one) => skippedLine(context, one))}
      </div>
    </div>
  );
}

function skippedLine(context: PageContext, { reason, ids, count }: SkippedEvents): JSX.Element {
  const more = count - ids.length;
  return (
    <p>
      {pluralize(count, 'event')} left alone: {reason}{' '}
      {ids.map((id, index) => (
        <>
          {index > 0 && ', '}
          <a class="exact mono" href={context.at('events', id)}>
            {id}
          </a>
        </>
      ))}
      {more > 0 && ` and ${digitsOf(more)} more`}
    </p>
  );
}
