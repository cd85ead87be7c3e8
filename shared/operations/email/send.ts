import { hash } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { MailReservation, WriteContext } from '../../kernel/context.ts';
import { deniedBy, invalid, ServiceError } from '../../lib/errors.ts';
import {
  EMAIL_ATTACHMENTS_MAX,
  EMAIL_BODY_MAX_BYTES,
  EMAIL_CALL_MAX_BYTES,
  EMAIL_RECIPIENTS_MAX,
  EMAIL_RETENTION_MS,
  EMAIL_SUBJECT_MAX_CHARS,
} from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { canonicalJson } from '../../rules/canonical-json.ts';
import type { EmailBatchRow } from '../../store/tables/mail/emails.ts';
import type { RequestRow } from '../../store/tables/people/requests.ts';
import { domainOf } from '../../rules/mail/mail-address.ts';
import { addressesByField } from '../../rules/mail/mail-recipients.ts';
import {
  projectAddress,
  readProjectAddress,
  replyTokenOf,
  reportToken,
} from './project-address.ts';
import { filePath } from '../disk-fields.ts';
import { eventId, label } from '../fields.ts';
import { prose, waitSeconds } from '../request/fields.ts';
import { judge, openRequest, type Judgement } from '../request/open.ts';
import { waitForDecision } from '../request/wait.ts';
import { findAttachments } from './attachments.ts';
import { sendBlocked, takeSendQuota } from './quota.ts';
import { addresses, recipientsOf, refuseRecipients, requireUnlessReply } from './recipients.ts';
import { planReply, type ReplyPlan } from './reply.ts';
import { threadOfSent } from './thread.ts';
import { batchView, toBatchView, type BatchView } from './view.ts';
import { detailsOf, summaryOf, type ProposedMail } from './copy.ts';

function bodyText() {
  const max = EMAIL_BODY_MAX_BYTES;
  return prose(max).refine(
    // `max` already reports a text with too many characters.
    (text) => text.length > max || Buffer.byteLength(text) <= max,
    'At most 256 KB in UTF-8.',
  );
}

const fields = z.strictObject({
  to: addresses
    .min(1, 'Name at least one address.')
    .max(EMAIL_RECIPIENTS_MAX, { abort: true, error: `At most ${EMAIL_RECIPIENTS_MAX} a call.` })
    .optional()
    .describe('Addresses; each gets a separate message.'),
  cc: addresses.optional().describe('All see `to` and `cc`.'),
  bcc: addresses.optional().describe('Nobody else sees these.'),
  subject: label(EMAIL_SUBJECT_MAX_CHARS).optional().describe('One line.'),
  text: bodyText().describe('Plain text.'),
  html: bodyText().optional().describe('Sent as given.'),
  attachments: z
    // Agents pay for each description: the list's says it.
    .array(filePath.meta({ description: undefined }))
    .max(EMAIL_ATTACHMENTS_MAX, { abort: true, error: `At most ${EMAIL_ATTACHMENTS_MAX} files.` })
    .default([])
    .describe('Paths or `evt_…/name`; 10 MB in total.'),
  reply_to_event: eventId.optional().describe('A mail to answer; gives `to`, `subject`.'),
  reply_all: z.boolean().default(false).describe('Also to its To and Cc.'),
  quote: z.boolean().default(true).describe('Quote it below the text.'),
  reply_to_inbox: z.boolean().default(true).describe('Replies arrive in the inbox.'),
  wait_seconds: waitSeconds,
});
const input = fields.superRefine(refuseRecipients).superRefine(requireUnlessReply);

type Input = z.output<typeof input>;

const sendAnswer = batchView.extend({
  status: z
    .enum(['queued', 'pending', 'cancelled'])
    .describe('`pending`: a person has to approve. `queued`: on its way. `cancelled`: refused.'),
});

type SendAnswer = z.infer<typeof sendAnswer>;

const KIND = 'email_send';

export const emailSend = defineOperation({
  name: 'email_send',
  summary: "Send an email from the project's address.",
  description:
    'Pending messages go out once approved. Replies arrive as email.received with reply_to set, failures as email.failed or email.bounced. A repeated call sends again.',
  scope: 'send',
  disk: { field: 'attachments', kind: 'path' },
  input,
  output: sendAnswer,
  errors: [
    'EMAIL_SOURCE_REQUIRED',
    'SEND_BLOCKED',
    'SEND_LIMIT_REACHED',
    'POLICY_DENIED',
    'TOO_MANY_PENDING_REQUESTS',
  ],
  effect: 'write',
  replica: 'upstream',
  rest: {
    method: 'POST',
    path: '/v1/emails',
    bodyMaxBytes: EMAIL_CALL_MAX_BYTES,
    accepted: ({ status }) => status === 'queued' || status === 'pending',
  },
  mcp: { title: 'Send an email', openWorld: true, untrusted: 'messages', asks: 'mail' },
  cli: {
    usage: 'email send',
    examples: [
      'email send --to ana@example.com --subject "Your invoice" --text @letter.txt',
      'email send --to ana@example.com --to bo@example.com --subject Report --text "See attached." --attachments reports/may.pdf',
    ],
  },
  subject: (_input, output) => output.batch_id,
  example: { to: ['ana@example.com'], subject: 'Hello', text: 'Hello Ana.', wait_seconds: 0 },
}).write({
  prepare: async (context, wanted) => {
    const reply = await planReply(context, wanted);
    const reservation = await context.reserveMail(allRecipients(wanted, reply).length);
    return { reply, reservation };
  },
  commit: async (context, wanted, { reply, reservation }): Promise<SendAnswer> => {
    const { html, text } = wanted;
    const recipients = allRecipients(wanted, reply);
    const sender = await senderOf(context, wanted, recipients);
    const attachments = await findAttachments(context, wanted.attachments);
    const subject = reply?.subject ?? wanted.subject ?? '';
    const answers = reply?.answers ?? null;
    const mail = { sender, recipients, subject, text, html, attachments, answers };
    const { reply_to_inbox: replyToInbox } = wanted;
    return toAnswer(await sendOrAsk(context, mail, { replyToInbox, reservation }));
  },
  wait: async (context, { wait_seconds: seconds }, committed) => {
    const { status, request_id, thread_id, batch_id: id } = committed;
    if (status !== 'pending' || request_id === null) return committed;
    const request = await waitForDecision(context, request_id, seconds);
    // The request may have expired during the wait.
    const now = request.status === 'expired' ? request.expires_at : context.now;
    const batch = { id, request_id, thread_id };
    return toAnswer(await context.read((store) => toBatchView(store, batch, now)));
  },
});

function allRecipients(
  { to, cc = [], bcc }: Input,
  reply: ReplyPlan | null,
): ReturnType<typeof recipientsOf> {
  return recipientsOf({ to: to ?? reply?.to, cc: [...cc, ...(reply?.cc ?? [])], bcc });
}

/** The answer stops at `queued`; email_status tells what happens after that (spec section 3.6). */
function toAnswer({ status, ...batch }: BatchView): SendAnswer {
  const isOn = status === 'pending' || status === 'cancelled';
  return { ...batch, status: isOn ? status : 'queued' };
}

const NO_WAY_BACK =
  'This server sends from one shared address that takes no replies. Call again with reply_to_inbox false.';

/** The From address. EMAIL_SOURCE_REQUIRED if the caller wants replies and can't receive them; SEND_BLOCKED. */
async function senderOf(
  { store, server, project }: WriteContext,
  wanted: Input,
  recipients: ReturnType<typeof recipientsOf>,
): Promise<string> {
  const { domain, from } = server.mail;
  const sender = from ?? projectAddress(server.mail, project.slug);
  if (sender === null || (wanted.reply_to_inbox && from !== null)) {
    throw new ServiceError('EMAIL_SOURCE_REQUIRED', { hint: NO_WAY_BACK });
  }
  if (wanted.reply_to_inbox && !(await store.sources.email())) {
    throw new ServiceError('EMAIL_SOURCE_REQUIRED');
  }
  const blocked = await sendBlocked(store);
  if (blocked) throw new ServiceError('SEND_BLOCKED', { details: { ...blocked } });
  const own = recipients.find(
    ({ address }) => readProjectAddress(address, domain ?? '')?.slug === project.slug,
  );
  if (!own) return sender;
  throw invalid({ path: own.path, message: "This is the project's own address." });
}

/** Sends the mail or asks a person, as the policy says. POLICY_DENIED names the rule. */
async function sendOrAsk(
  context: WriteContext,
  mail: ProposedMail,
  {
    replyToInbox,
    reservation,
  }: { readonly replyToInbox: boolean; readonly reservation: MailReservation | null },
): Promise<BatchView> {
  const { caller, store, now } = context;
  const subject = subjectOf(mail, replyToInbox);
  const same = await store.requests.findSame({ keyId: caller.keyId, kind: KIND, subject }, now);
  const known = same && (await store.emails.findByRequest(same.id));
  if (known) return toBatchView(store, known, now);
  const judgement = await judge(context, {
    tool: KIND,
    action: null,
    amount: null,
    risk: 'medium',
    recipientDomains: mail.recipients.map(({ address }) => domainOf(address)),
  });
  if (judgement.effect === 'deny') {
    throw deniedBy(judgement.rule?.id ?? null, ': it may concern only one recipient');
  }
  await takeSendQuota(context, mail.recipients.length, reservation);
  const request =
    judgement.effect === 'allow' ? null : await ask(context, mail, subject, judgement);
  const batch = {
    id: context.newId('bat'),
    request_id: request?.id ?? null,
    reply_to_inbox: replyToInbox ? 1 : 0,
    thread_id: await threadOf(context, mail),
  };
  await insert(context, mail, batch, request?.status === 'pending' ? 'pending' : 'queued');
  return toBatchView(store, batch, now);
}

function threadOf({ store, newId }: WriteContext, { answers }: ProposedMail): Promise<string> {
  return threadOfSent({ store, newThread: () => newId('thr') }, answers?.event_id ?? null);
}

/** Exactly what a person approves: if the text changes, the agent has to ask again. */
function subjectOf(
  { recipients, subject, text, html, attachments, answers }: ProposedMail,
  replies: boolean,
): string {
  const { to, cc, bcc } = addressesByField(recipients);
  return canonicalJson({
    to,
    ...(cc.length > 0 && { cc }),
    ...(bcc.length > 0 && { bcc }),
    subject,
    text: hash('sha256', text),
    html: html === undefined ? null : hash('sha256', html),
    attachments: attachments.map(({ path, digest }) => ({ path, digest })),
    reply_to_inbox: replies,
    ...(answers && { reply_to_event: answers.event_id, quote: answers.quote !== null }),
  });
}

async function ask(
  context: WriteContext,
  mail: ProposedMail,
  subject: string,
  judgement: Judgement,
): Promise<RequestRow> {
  const draft = {
    kind: KIND,
    subject,
    action: KIND,
    summary: summaryOf(
      mail.subject,
      mail.recipients.map(({ address }) => address),
    ),
    details: await detailsOf(context.store, mail),
    risk: 'medium',
  } as const;
  return openRequest(context, draft, judgement);
}

async function insert(
  { store, caller, vault, project, now, newId, emit }: WriteContext,
  { sender, recipients, subject, text, html, attachments, answers }: ProposedMail,
  batch: Pick<EmailBatchRow, 'id' | 'request_id' | 'reply_to_inbox' | 'thread_id'>,
  status: 'pending' | 'queued',
): Promise<void> {
  const forgetAt = now + EMAIL_RETENTION_MS;
  await store.emails.insertBatch({
    ...batch,
    key_id: caller.keyId,
    sender,
    subject,
    text,
    html: html ?? null,
    attachments: JSON.stringify(attachments),
    answers: answers && JSON.stringify(answers),
    created_at: isoTime(now),
    forget_at: forgetAt,
  });
  for (const { digest, size_bytes } of attachments) {
    await store.blobs.addReference(digest, size_bytes);
  }
  for (const { address, field } of recipients) {
    const id = newId('msg');
    await store.emails.insertMessage({
      id,
      batch_id: batch.id,
      recipient: address,
      field,
      token_hash: hash('sha256', replyTokenOf(reportToken(vault, project.id, id))),
      status,
      due_at: status === 'queued' ? now : null,
    });
  }
  emit({ kind: 'due', at: forgetAt });
  if (status === 'queued') emit({ kind: 'mails_due' });
}
