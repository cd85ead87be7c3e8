import { hash } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid, ServiceError } from '../../lib/errors.ts';
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
import type { EmailBatchRow } from '../../store/emails.ts';
import type { RequestRow } from '../../store/requests.ts';
import { domainOf, isMailAddress, isRouted } from '../../rules/mail-address.ts';
import {
  projectAddress,
  readProjectAddress,
  replyTokenOf,
  reportToken,
} from './project-address.ts';
import { filePath } from '../disk-fields.ts';
import { label } from '../fields.ts';
import { prose, waitSeconds } from '../request/fields.ts';
import { judge, openRequest, type Judgement } from '../request/open.ts';
import { waitForDecision } from '../request/wait.ts';
import { findAttachments } from './attachments.ts';
import { sendBlocked, takeSendQuota } from './quota.ts';
import { batchView, toBatchView, type BatchView } from './view.ts';
import { detailsOf, summaryOf, type ProposedMail } from './copy.ts';

const recipient = z
  .string()
  .max(254, { abort: true })
  .refine(isMailAddress, 'Expected a plain ASCII address `local@domain`, without a name.')
  .refine(
    (address) => !isRouted(address),
    'Mail servers may redirect an address with `%` or `!` in it.',
  );

function bodyText() {
  const max = EMAIL_BODY_MAX_BYTES;
  return prose(max).refine(
    // `max` already reports a text with too many characters.
    (text) => text.length > max || Buffer.byteLength(text) <= max,
    'At most 256 KB in UTF-8.',
  );
}

const input = z.strictObject({
  to: z
    .array(recipient)
    .min(1, 'Name at least one address.')
    .max(EMAIL_RECIPIENTS_MAX, { abort: true, error: `At most ${EMAIL_RECIPIENTS_MAX} a call.` })
    .superRefine(refuseTwice)
    .describe('Addresses; each gets a separate message.'),
  subject: label(EMAIL_SUBJECT_MAX_CHARS).describe('One line.'),
  text: bodyText().describe('Plain text.'),
  html: bodyText().optional().describe('Sent as given.'),
  attachments: z
    .array(filePath)
    .max(EMAIL_ATTACHMENTS_MAX, { abort: true, error: `At most ${EMAIL_ATTACHMENTS_MAX} files.` })
    .default([])
    .describe('Disk paths, `disk://` or `evt_…/name`; 10 MB in total.'),
  reply_to_inbox: z.boolean().default(true).describe('Replies arrive in the inbox.'),
  wait_seconds: waitSeconds,
});

type Input = z.output<typeof input>;

const sendAnswer = batchView.extend({ status: z.enum(['queued', 'pending', 'cancelled']) });

type SendAnswer = z.infer<typeof sendAnswer>;

const KIND = 'email_send';

export const emailSend = defineOperation({
  name: 'email_send',
  summary: "Send an email from the project's address.",
  description:
    'If a person must approve, pending messages go out once approved. Replies arrive as email.received with reply_to set, failures as email.failed or email.bounced. Calling again sends again.',
  scope: 'send',
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
  mcp: { title: 'Send an email', openWorld: true, untrusted: 'messages' },
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
  commit: async (context, wanted): Promise<SendAnswer> => {
    const sender = await senderOf(context, wanted);
    const { html, subject, text, to } = wanted;
    const attachments = await findAttachments(context, wanted.attachments);
    const mail = { sender, to, subject, text, html, attachments };
    return toAnswer(await sendOrAsk(context, mail, wanted.reply_to_inbox));
  },
  wait: async (context, { wait_seconds: seconds }, committed) => {
    const { status, request_id, batch_id: id } = committed;
    if (status !== 'pending' || request_id === null) return committed;
    const request = await waitForDecision(context, request_id, seconds);
    // The request may have expired during the wait.
    const now = request.status === 'expired' ? request.expires_at : context.now;
    return toAnswer(await context.read((store) => toBatchView(store, { id, request_id }, now)));
  },
});

/** The answer stops at `queued`; email_status tells what happens after that (spec section 3.6). */
function toAnswer({ status, ...batch }: BatchView): SendAnswer {
  const isOn = status === 'pending' || status === 'cancelled';
  return { ...batch, status: isOn ? status : 'queued' };
}

function refuseTwice(addresses: readonly string[], context: z.core.$RefinementCtx): void {
  const seen = new Map<string, number>();
  for (const [index, address] of addresses.entries()) {
    const first = seen.get(address.toLowerCase());
    seen.set(address.toLowerCase(), first ?? index);
    if (first === undefined) continue;
    const message = `The same as to[${first}].`;
    context.issues.push({ code: 'custom', input: address, path: [index], message });
  }
}

const NO_WAY_BACK =
  'This server sends from one shared address that takes no replies. Call again with reply_to_inbox false.';

/** The From address. EMAIL_SOURCE_REQUIRED if the caller wants replies and can't receive them; SEND_BLOCKED. */
async function senderOf({ store, server, project }: WriteContext, wanted: Input): Promise<string> {
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
  const own = wanted.to.findIndex(
    (address) => readProjectAddress(address, domain ?? '')?.slug === project.slug,
  );
  if (own < 0) return sender;
  throw invalid({ path: `to[${own}]`, message: "This is the project's own address." });
}

/** Sends the mail or asks a person, as the policy says. POLICY_DENIED names the rule. */
async function sendOrAsk(
  context: WriteContext,
  mail: ProposedMail,
  replyToInbox: boolean,
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
    recipientDomains: mail.to.map(domainOf),
  });
  if (judgement.effect === 'deny') {
    throw new ServiceError('POLICY_DENIED', {
      hint: 'See the rule with policy_get: it may concern only one recipient.',
      details: { rule: judgement.rule?.id ?? null },
    });
  }
  await takeSendQuota(context, mail.to.length);
  const request =
    judgement.effect === 'allow' ? null : await ask(context, mail, subject, judgement);
  const batch = {
    id: context.newId('bat'),
    request_id: request?.id ?? null,
    reply_to_inbox: replyToInbox ? 1 : 0,
  };
  await insert(context, mail, batch, request?.status === 'pending' ? 'pending' : 'queued');
  return toBatchView(store, batch, now);
}

/** Exactly what a person approves: if the text changes, the agent has to ask again. */
function subjectOf(
  { to, subject, text, html, attachments }: ProposedMail,
  replies: boolean,
): string {
  return canonicalJson({
    to,
    subject,
    text: hash('sha256', text),
    html: html === undefined ? null : hash('sha256', html),
    attachments: attachments.map(({ path, digest }) => ({ path, digest })),
    reply_to_inbox: replies,
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
    summary: summaryOf(mail),
    details: await detailsOf(context.store, mail),
    risk: 'medium',
  } as const;
  return openRequest(context, draft, judgement);
}

async function insert(
  { store, caller, vault, project, now, newId, emit }: WriteContext,
  { sender, to, subject, text, html, attachments }: ProposedMail,
  batch: Pick<EmailBatchRow, 'id' | 'request_id' | 'reply_to_inbox'>,
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
    created_at: isoTime(now),
    forget_at: forgetAt,
  });
  for (const { digest, size_bytes } of attachments) {
    await store.blobs.addReference(digest, size_bytes);
  }
  for (const address of to) {
    const id = newId('msg');
    await store.emails.insertMessage({
      id,
      batch_id: batch.id,
      recipient: address,
      token_hash: hash('sha256', replyTokenOf(reportToken(vault, project.id, id))),
      status,
      due_at: status === 'queued' ? now : null,
    });
  }
  emit({ kind: 'due', at: forgetAt });
  if (status === 'queued') emit({ kind: 'mails_due' });
}
