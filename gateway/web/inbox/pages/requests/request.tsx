import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { requestStatus } from '../../../../../shared/operations/request/status.ts';
import type { RequestRecord } from '../../../../../shared/operations/request/record.ts';
import { besideDecision } from '../../../pages/beside.ts';
import { ConfirmContent } from '../../../pages/confirm-page.tsx';
import { openStep, sealStep } from '../../../pages/csrf.ts';
import {
  afterChoice,
  readChoice,
  readForm,
  type Form,
  type ReadChoice,
} from '../../../pages/form.ts';
import { FORM_PROBLEMS } from '../../../pages/page-answers.tsx';
import { QuorumLine } from '../../../pages/quorum.tsx';
import { RequestContent } from '../../../pages/request-page.tsx';
import { ResultContent } from '../../../pages/result-page.tsx';
import { needsSecondStep } from '../../../pages/second-step.ts';
import { About, ExpiryLine, Subject } from '../../../pages/subject.tsx';
import { isVerb, KINDS, statusAt } from '../../../pages/copy.ts';
import type { Overseen } from '../../../../approvals/owner-approvals.ts';
import { Note, UpLink } from '../../../ui/parts.tsx';
import type { ActionResult, PageResult, PageContext } from '../../page-context.ts';
import { unmute } from '../people/muted-keys.tsx';
import { requestBackground } from './request-background.tsx';

const NO_FORM: Form = {};

/** One request, with the decision forms if the visitor may decide. */
export async function showRequest(context: PageContext, id: string): Promise<PageResult> {
  const seen = await overseen(context, id);
  const { opened } = seen;
  const step = context.query('step');
  const isOpen = statusAt(opened.request, opened.now) === 'pending' && mayDecide(context, seen);
  const choice = isOpen
    ? openStep(context.inbox.vault, context.session.idHash, opened, step)
    : null;
  if (step !== undefined && choice !== null) {
    const content = <ConfirmContent {...{ opened, choice, step }} csrf={context.csrf} />;
    return { title: 'Approve this?', content };
  }
  return shown(context, seen);
}

/** Records a decision through the visitor's channel, or mutes a key for it. */
export async function actOnRequest(context: PageContext, body: string): Promise<ActionResult> {
  if (context.id === null) {
    const done = await unmute(context, body);
    return done ?? { to: context.at('requests') };
  }
  const seen = await overseen(context, context.id);
  if (!mayDecide(context, seen)) {
    return shown(context, seen, { status: 403, problem: 'Nothing was decided.' });
  }
  const form = readForm(body);
  if (form === null) return shown(context, seen, { status: 400, problem: FORM_PROBLEMS.unclear });
  const { vault, approvals } = context.inbox;
  const here = context.at('requests', context.id);
  const done = await besideDecision(approvals, seen.token, { form, place: 'web' });
  if (done !== undefined) return { to: here };
  const read = form.confirm === undefined ? readChoice(form) : confirmed(context, seen, form);
  if (read.choice === null) {
    return shown(context, seen, { status: 400, problem: read.problem, form });
  }
  const { choice } = read;
  if (form.confirm === undefined && needsSecondStep(seen.opened, choice)) {
    const step = sealStep(vault, context.session.idHash, seen.opened, choice);
    return { to: `${here}?step=${step}` };
  }
  const decided = await approvals.decide(seen.token, choice, 'web');
  if (decided === null) return { to: here };
  if (decided.outcome === 'refused') {
    return shown(context, seen, { status: 400, problem: decided.problem, form });
  }
  return { to: here + afterChoice(decided.outcome, choice) };
}

/**
 * The operation checks that the request exists, and gives the texts that the visitor may see; OwnerApprovals adds what a
 * person sees with it.
 */
async function overseen(context: PageContext, id: string): Promise<OverseenRequest> {
  const told = await context.call(requestStatus, { request_id: id });
  const { project, channelId } = context.access;
  const seen = await context.inbox.requests.find(project, id, channelId);
  if (!seen) throw new ServiceError('NOT_FOUND');
  const { details } = told;
  // About a member, who decides sees a full address, which an agent doesn't.
  const { kind, summary: ofMember } = seen.opened.request;
  const summary = kind === 'member' ? ofMember : told.summary;
  const request = { ...seen.opened.request, summary, details };
  return { ...seen, opened: { ...seen.opened, request }, record: told };
}

type OverseenRequest = Overseen & {
  /** The request as the operation tells it. */
  readonly record: RequestRecord;
};

type Decidable = OverseenRequest & { readonly token: string };

function mayDecide({ access }: PageContext, seen: OverseenRequest): seen is Decidable {
  return access.channelId !== null && seen.token !== null;
}

function confirmed({ inbox, session }: PageContext, { opened }: Overseen, form: Form): ReadChoice {
  const choice = openStep(inbox.vault, session.idHash, opened, form.confirm);
  return choice === null ? { choice, problem: FORM_PROBLEMS.outdated } : { choice };
}

interface FormError {
  readonly status?: number;
  readonly problem?: string;
  readonly form?: Form;
}

/** The request in its current state. */
async function shown(
  context: PageContext,
  seen: OverseenRequest,
  { status = 200, problem, form = NO_FORM }: FormError = {},
): Promise<PageResult> {
  const { opened, record } = seen;
  const { kind } = opened.request;
  const current = statusAt(opened.request, opened.now);
  const isPending = current === 'pending';
  const asked = { opened, csrf: context.csrf, problem: problem ?? null, form };
  const keyHref = keyPage(context, opened.request.keyId);
  const verb = context.query('late');
  const content = (
    <>
      <UpLink href={context.at('requests')} whole>
        All requests
      </UpLink>
      {current !== 'pending' && (
        <ResultContent
          opened={opened}
          late={isVerb(verb) ? verb : null}
          status={current}
          csrf={mayDecide(context, seen) ? context.csrf : null}
        />
      )}
      {isPending && !mayDecide(context, seen) && undecidable(context, seen)}
      {isPending && mayDecide(context, seen) && (
        <RequestContent
          {...asked}
          keyHref={keyHref}
          recorded={context.query('recorded') !== undefined}
        />
      )}
      {await requestBackground(context, record)}
    </>
  );
  return { title: KINDS[kind].noun, status, wide: isPending, content };
}

const NOT_ASKED = 'You weren’t asked. Only the people who were asked can decide: see below.';

/** Why this visitor can't decide. */
const WHY_NOT = {
  not_a_key:
    'This inbox was opened with a key. A key can’t decide anything, because an agent may be using it.',
  not_this_role: 'Your role decides nothing. An owner can give you another one.',
  member: NOT_ASKED,
  anybody: NOT_ASKED,
} as const;

/** For a visitor who may look but not decide: the request, and how to get a decision. */
function undecidable(context: PageContext, { opened }: Overseen): JSX.Element {
  const { access, root } = context;
  return (
    <>
      <div class="stack">
        <h1>{KINDS[opened.request.kind].heading}</h1>
        <Subject request={opened.request} />
      </div>
      <section class="act card stack" aria-labelledby="decide">
        <div>
          <h2 id="decide">Waiting for a decision</h2>
          <QuorumLine opened={opened} />
          <ExpiryLine opened={opened} />
        </div>
        <Note>{WHY_NOT[access.deciding]}</Note>
        {access.deciding === 'not_a_key' && (
          <a class="btn" href={`${root}/sign-in`}>
            Sign in by email
          </a>
        )}
      </section>
      <About opened={opened} keyHref={keyPage(context, opened.request.keyId)} />
    </>
  );
}

/** The page of a key, if the visitor may open it. */
function keyPage(context: PageContext, id: string): string | null {
  return context.pages.some(({ path }) => path === 'keys') ? context.at('keys', id) : null;
}
