import { hash } from 'node:crypto';
import * as z from 'zod';
import { named } from '../../kernel/schema-names.ts';
import type { LongContext, WriteContext } from '../../kernel/context.ts';
import { queueRow } from '../../kernel/queue-row.ts';
import { invalid, notFound, scopeMissing } from '../../lib/errors.ts';
import { mayCall } from '../../lib/scopes.ts';
import { canonicalJson, evenJson } from '../../rules/canonical-json.ts';
import { effective, type EventStateCode } from '../../rules/inbox/event-state.ts';
import { withdrawnBecause } from '../../rules/requests/request-state.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { eventId, leaseId } from '../fields.ts';
import { holdFault, refusal } from '../inbox/move.ts';
import { asTextWarnings } from '../json-as-text.ts';
import { parkEvent, parkState } from '../inbox/park.ts';
import { openRequest, type Judgement, type RequestDraft } from './open.ts';
import { requestAnswer, toAnswer } from './record.ts';
import { waitForDecision } from './wait.ts';
import { withdraw } from './withdrawal.ts';

/** The decision in time, or how the request stands at the end of it. With `park` the agent leaves: nobody waits. */
export async function answerInTime(
  context: LongContext,
  { park, wait_seconds }: { readonly park: boolean; readonly wait_seconds: number },
  asked: z.output<typeof askAnswer>,
): Promise<z.output<typeof askAnswer>> {
  if (park || asked.status !== 'pending') return asked;
  const row = await waitForDecision(context, asked.request_id, wait_seconds);
  return context.read((store) => toAnswer(store, row, context.now));
}

/** What a question has that is about an event. */
export const eventFields = {
  event_id: eventId
    .optional()
    .describe('The event this is about; asking again finds the first question.'),
  lease_id: leaseId,
  park: z.boolean().default(false).describe('Give the event back until it is decided.'),
  state: parkState,
};

/** The answer to the call that asked. */
export const askAnswer = named(
  'AskAnswer',
  requestAnswer
    .extend({
      parked: z.boolean().optional().describe('The event waits for the answer.'),
      warnings: asTextWarnings,
    })
    .describe('How a request stands.'),
);

const PARKED_HINT =
  'The event waits for the answer. Take another one; claim this one again once it is pending, and start from the top.';
const NOT_HELD_HINT = "You don't hold the event: claim it before you work on it.";

interface AskCall {
  readonly event_id?: string | undefined;
  readonly lease_id?: string | undefined;
  readonly park: boolean;
  readonly state?: string | undefined;
}

/**
 * Asks, in one transaction with all that hangs on it: about an event the same question is asked once, and the event is
 * parked on it where the caller wants that and nobody has decided yet. Asking again finds the question even when the
 * event isn't the caller's any more, as after a park whose answer was lost.
 */
export async function askQuestion(
  context: WriteContext,
  call: AskCall,
  draft: RequestDraft,
  judge: () => Promise<Judgement>,
): Promise<z.output<typeof askAnswer>> {
  const { store, now } = context;
  const { event_id: id, park, state } = call;
  if (!park && state !== undefined) throw invalid({ path: 'state', message: 'Only with park.' });
  if (id === undefined) {
    if (park) throw invalid({ path: 'event_id', message: 'Name the event to park.' });
    return toAnswer(store, await openRequest(context, draft, await judge()), now);
  }
  const event = await eventOf(context, id);
  const identity = identityOf(draft);
  const asked = await store.requests.findQuestion(id, identity);
  const fault = holdFault(context, event, call.lease_id);
  if (fault !== null) return askedBefore(context, { event, asked, fault, park });
  const row =
    asked && isAnswerable(asked)
      ? asked
      : await openAbout(context, { ...draft, eventId: id, identity }, judge);
  const answer = await toAnswer(store, row, now);
  if (!park || answer.status !== 'pending') return answer;
  const wait = { eventId: id, leaseId: call.lease_id, until: [row.id], wakesOnAny: false, state };
  const { status } = await parkEvent(context, wait);
  // Parked too often, the event is dead, and its question withdrawn.
  if (status === 'dead') return toAnswer(store, (await store.requests.find(row.id)) ?? row, now);
  return parkedAnswer(answer);
}

async function eventOf({ caller, store }: WriteContext, id: string): Promise<EventRow> {
  if (!mayCall(caller.scopes, 'inbox:write')) throw scopeMissing('inbox:write');
  const row = await store.events.find(id);
  if (!row) throw notFound(`event ${id}`);
  return row;
}

interface AskedBefore {
  readonly event: EventRow;
  readonly asked: RequestRow | undefined;
  /** Why the caller doesn't hold the event. */
  readonly fault: EventStateCode;
  readonly park: boolean;
}

/**
 * The answer about an event that the caller doesn't hold: the question that was asked, as it stands. Only who works on
 * an event asks something new about it: a question in other words would stand for the first one.
 */
async function askedBefore(
  { store, now }: WriteContext,
  { event, asked, fault, park }: AskedBefore,
): Promise<z.output<typeof askAnswer>> {
  const current = effective(queueRow(event), now);
  if (!asked) throw refusal(fault, current);
  const answer = await toAnswer(store, asked, now);
  const waits = current.status === 'waiting' ? await store.parks.find(event.seq) : null;
  const isParked = waits?.conditions.some(({ id }) => id === asked.id) === true;
  if (park && isParked && answer.status === 'pending') return parkedAnswer(answer);
  return { ...answer, hint: answer.hint ?? NOT_HELD_HINT };
}

function parkedAnswer(answer: z.output<typeof askAnswer>): z.output<typeof askAnswer> {
  return { ...answer, hint: PARKED_HINT, poll_after_seconds: null, parked: true };
}

/** More was to be said, or the question was taken back: that is asked anew. */
function isAnswerable({ status, hint }: RequestRow): boolean {
  return status !== 'needs_context' && withdrawnBecause(hint) === null;
}

/** Opens the question; an open one on the same action with other values is withdrawn. */
async function openAbout(
  context: WriteContext,
  draft: RequestDraft & { readonly eventId: string },
  judge: () => Promise<Judgement>,
): Promise<RequestRow> {
  const { kind, action = null } = draft;
  if (kind === 'approval') {
    for (const open of await context.store.requests.pendingOf(draft.eventId, context.now)) {
      if (open.kind === kind && open.action === action) {
        await withdraw(context, open, 'replaced by a question with other values.');
      }
    }
  }
  return openRequest(context, draft, await judge());
}

/**
 * An approval is the same for the same action and values, in whatever words; without values the amount counts. A question
 * has nothing but its words.
 */
function identityOf({ kind, action, amount, bind, subject }: RequestDraft): string {
  const values = bind === undefined ? { amount } : evenJson(bind);
  const same = kind === 'approval' ? { kind, action, bind: values } : { kind, subject };
  return hash('sha256', canonicalJson(same));
}
