import { summaryOf } from '../../../shared/operations/email/copy.ts';
import type { Request } from '../../call/answers.ts';
import type { Answer, Input } from '../../call/answers.ts';
import { ENDS, UNTIL_DECIDED } from '../../approvals/options.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { CallError, CliError } from '../../errors.ts';
import { missing } from '../../input/refusals.ts';
import { readCall } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import { ask, type AskResult } from '../../approvals/ask.ts';
import { tellOutbox } from '../../approvals/outbox-hint.ts';
import { emailView } from '../../view/email.ts';

export const declaration: Additions = {
  description: `Each recipient gets a separate message. The policy may ask a person first: once they approve, the messages go out without another call; repeating the call until then waits for the same decision. Exit code 0: sent or queued. Exit code 5: denied or expired. ${ENDS} Replies arrive in the inbox as email.received with reply_to set, failures as email.failed and email.bounced.`,
  moreOptions: [UNTIL_DECIDED],
  seeAlso: ['email status', 'outbox show', 'policy test'],
};

/** `svc email send`: sends, or waits for a person to approve. */
export async function run(
  context: CommandContext,
  shape: OperationShape<'email_send'>,
): Promise<number> {
  refuseIncomplete(context, shape);
  const call = await readCall(shape, context);
  try {
    return await ask(shape, context, call, { isAsked, show, afterwards });
  } catch (error) {
    throw withSource(error);
  }
}

/** A mail that answers none needs both; a reply takes them from that mail. */
function refuseIncomplete({ options }: CommandContext, shape: OperationShape): void {
  if (options['reply-to-event'] !== undefined) return;
  for (const flag of ['to', 'subject']) {
    if (options[flag] === undefined) throw missing(`--${flag} is missing.`, shape);
  }
}

function isAsked(
  { kind, summary, reply_to_event: answered }: Request,
  mail: Input<'email_send'>,
): boolean {
  const { subject = '', to = [], cc = [], bcc = [], reply_to_event: event } = mail;
  if (kind !== 'email_send') return false;
  if (event !== undefined) return answered === event;
  return summary === summaryOf(subject, [...to, ...cc, ...bcc]);
}

async function show(
  context: CommandContext,
  { answer, waiting }: AskResult<'email_send'>,
): Promise<void> {
  const { options, output } = context;
  if (answer === null) return output.answer(answer);
  output.answer(answer, emailView(answer));
  const { status, request_id: request } = answer;
  const isPiped = output.json && options['json'] !== true;
  if (status === 'pending') {
    if (isPiped) output.note(`Still pending. Next: svc request watch ${request ?? ''}`);
    await waiting.tellWhere(null);
  } else if (status !== 'cancelled') {
    await tellOutbox(context, 'The mail', 'show');
  }
}

/** The state of the messages after a person has decided. */
async function afterwards(
  { client, signal }: CommandContext,
  { batch_id: id }: Answer<'email_send'>,
): Promise<Answer<'email_send'>> {
  const now = await client().call('email_status', { batch_id: id }, { signal });
  const { status, batch_id, request_id, thread_id, messages } = now;
  return { status, batch_id, request_id, thread_id, messages };
}

/** Adds a hint with the command that creates the missing source. */
function withSource(error: unknown): unknown {
  if (!(error instanceof CallError) || error.code !== 'EMAIL_SOURCE_REQUIRED') return error;
  const { code, message, details, exit } = error;
  const hint =
    'Add one to receive replies in the inbox: svc source add mail --type email. Or send without replies: --reply-to-inbox false';
  return new CliError({ code, message, hint, details, exit });
}
