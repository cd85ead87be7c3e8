import { SAMPLE_NAMES } from '../../shared/rules/inbox/sample-names.ts';
import type { Answer } from '../call/answers.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { usageError } from '../errors.ts';
import {
  integerOption,
  listOption,
  switchOption,
  textArgument,
  textOption,
} from '../input/option-values.ts';
import { setPath } from '../input/set-path.ts';
import { didYouMean, nearest } from '../../shared/lib/suggest.ts';
import { deliver } from '../samples/deliver.ts';
import type { Sample, WebhookKind } from '../../shared/lib/samples/fresh.ts';
import { senderOf, type Verification } from '../../shared/senders/registry.ts';
import { sampleBody, webhookKinds } from '../../shared/senders/samples.ts';
import { mailKinds, type MailKind } from '../samples/mail.ts';
import { triggerMail } from '../samples/trigger-mail.ts';

export const declaration: Declaration = {
  summary: 'Send a realistic sample event to a source.',
  description:
    "Builds a delivery as the provider would, with new ids and times, signs it with the source's secret and sends it to the source's URL. Needs an admin key. Without --source, uses the only source with matching verification. Sample mail needs no mail server: svc posts it to the email source, and it arrives unverified because it has no DKIM signature. For mail, --set takes subject, from and text; email.reply also needs in_reply_to, and email.bounce message_id: both are the message_id of a sent message.",
  args: [
    {
      name: 'kind',
      required: false,
      summary: 'What to send, such as `github.push`.',
      choices: SAMPLE_NAMES,
    },
  ],
  options: [
    { flag: 'list', summary: 'List all kinds.' },
    { flag: 'source', value: 'NAME', summary: 'The source to send to.', stored: 'sources' },
    {
      flag: 'count',
      value: 'N',
      summary: 'How many to send, each with new ids (1 to 10000, default 1).',
    },
    {
      flag: 'set',
      value: 'PATH=VALUE',
      summary: 'Set a payload field; the value is JSON, or else text.',
      repeatable: true,
    },
    { flag: 'dry-run', summary: 'Print the sample without sending it.' },
  ],
  examples: [
    'trigger github.pull_request.opened',
    'trigger stripe.invoice.paid --set data.object.amount_paid=9900',
    'trigger webhook --source build-bot --count 5',
    'trigger email --set subject="Where is my order?"',
    'trigger email.reply --set in_reply_to=msg_01j9z3k4m5n6p7q8r9s0t1v2w3',
    'trigger --list',
  ],
  seeAlso: ['source add', 'listen', 'inbox wait'],
};

const COUNT_MAX = 10_000;

type Kind = WebhookKind<Verification>;

type Source = Answer<'source_list'>['items'][number];

/** Sends new samples to one of the project's sources: webhooks signed as their providers do, and mails. */
export async function run(context: CommandContext): Promise<number> {
  if (switchOption(context, 'list')) {
    listKinds(context);
    return EXIT.done;
  }
  const kind = findKind(textArgument(context, 'kind'));
  const count = integerOption(context, 'count', { min: 1, max: COUNT_MAX }) ?? 1;
  return 'verification' in kind
    ? triggerWebhook(context, kind, count)
    : triggerMail(context, kind, count);
}

function listKinds({ output }: CommandContext): void {
  const webhooks = webhookKinds.map(({ kind, verification, summary }) => ({
    kind,
    type: 'webhook',
    verification: verification ?? 'any',
    summary,
  }));
  const mails = mailKinds.map(({ kind, summary }) => ({
    kind,
    type: 'email',
    verification: 'none',
    summary,
  }));
  output.answer(
    { items: [...webhooks, ...mails], next_cursor: null },
    { columns: ['kind', 'type', 'verification', 'summary'] },
  );
}

function findKind(name: string | undefined): Kind | MailKind {
  if (name === undefined) {
    throw usageError(
      '<kind> is missing.',
      'For example: svc trigger github.push. All: svc trigger --list',
    );
  }
  const all = [...webhookKinds, ...mailKinds];
  const found = all.find((candidate) => candidate.kind === name);
  if (found) return found;
  const kinds = all.map(({ kind }) => kind);
  const meant = meantKinds(name, kinds).join(', ');
  const hint = meant === '' ? 'List them all: svc trigger --list' : `Did you mean: ${meant}?`;
  throw usageError(`No sample named \`${name}\`.`, hint);
}

/**
 * The kinds a person most likely meant: kinds that contain the name, the nearest one, or all kinds of the same sender.
 */
function meantKinds(name: string, kinds: readonly string[]): readonly string[] {
  const around = kinds.filter((kind) => kind.startsWith(`${name}.`) || kind.endsWith(`.${name}`));
  if (around.length > 0) return around;
  const senders = [...new Set(kinds.map(senderIn))];
  const sender = nearest(senderIn(name), senders);
  const own = kinds.filter((kind) => senderIn(kind) === sender);
  const meant = nearest(name, own) ?? nearest(name, kinds);
  return meant === null ? own : [meant];
}

/** `slack` of `slack.app_mention` */
function senderIn(kind: string): string {
  return kind.replace(/\..*$/s, '');
}

async function triggerWebhook(context: CommandContext, kind: Kind, count: number): Promise<number> {
  const { output } = context;
  if (switchOption(context, 'dry-run')) {
    for (let made = 0; made < count; made += 1) {
      const { headers, payload } = makeSample(context, kind);
      output.answer({ kind: kind.kind, headers, payload });
    }
    return EXIT.done;
  }
  // Build the sample first, so that a usage error comes before any call.
  makeSample(context, kind);
  const source = await findSource(context, kind);
  for (let sent = 0; sent < count; sent += 1) {
    if (context.signal.aborted) return EXIT.interrupted;
    await sendOne(context, kind, source);
  }
  if (!output.json) output.note(`Next: svc inbox wait --source ${source.name}`);
  return EXIT.done;
}

function makeSample(context: CommandContext, kind: Kind): Sample {
  const sample = kind.build();
  for (const assignment of listOption(context, 'set')) setPath(sample.payload, assignment);
  return sample;
}

async function findSource(context: CommandContext, kind: Kind): Promise<Source> {
  const { client, signal } = context;
  const { items } = await client().call('source_list', {}, { signal });
  const sources = items.filter(({ type }) => type === 'webhook');
  const wanted = textOption(context, 'source');
  return wanted === undefined ? onlyFitting(sources, kind) : named(sources, wanted, kind, context);
}

function named(
  sources: readonly Source[],
  name: string,
  kind: Kind,
  context: CommandContext,
): Source {
  const source = sources.find((candidate) => candidate.name === name);
  if (source === undefined) {
    const names = sources.map((candidate) => candidate.name);
    const hint = `Webhook sources: ${names.join(', ') || 'none'}. Add one: ${addLine(kind, name)}`;
    throw usageError(`No webhook source named \`${name}\`.${didYouMean(name, names)}`, hint);
  }
  if (kind.verification !== null && source.verification !== kind.verification) {
    const { verification } = source;
    const checks = verification === 'none' ? 'checks no signatures' : `checks ${verification}`;
    context.output.note(
      `Source ${name} ${checks}, and the sample is ${kind.verification}'s, so the event may have another type.`,
    );
  }
  return source;
}

function onlyFitting(sources: readonly Source[], kind: Kind): Source {
  const fitting = sources.filter(({ verification }) =>
    kind.verification === null
      ? !webhookKinds.some((one) => one.verification === verification)
      : verification === kind.verification,
  );
  const [first, ...others] = fitting;
  if (first === undefined) {
    const what = kind.verification === null ? 'a generic webhook' : `\`${kind.verification}\``;
    throw usageError(`No source accepts ${what} yet.`, `Add one: ${addLine(kind)}`);
  }
  if (others.length === 0) return first;
  const names = fitting.map(({ name }) => name).join(', ');
  throw usageError(`Several sources match: ${names}.`, `Choose one with --source ${first.name}`);
}

/** The command that adds a source for this kind. */
function addLine(kind: Kind, name: string = kind.verification ?? 'webhook'): string {
  const { verification } = kind;
  if (verification === null) return `svc source add ${name}`;
  const asksSecret = ['svc', 'sender'].includes(senderOf(verification).secretBy ?? '');
  const secret = asksSecret ? ' --secret @secret.txt' : '';
  return `svc source add ${name} --verification ${verification}${secret}`;
}

async function sendOne(context: CommandContext, kind: Kind, source: Source): Promise<void> {
  const { client, signal } = context;
  const sample = makeSample(context, kind);
  const made = sampleBody(sample);
  const content = {
    body_base64: made.toString('base64'),
    content_type: sample.headers['content-type'],
  };
  // The server signs, because the secret never leaves it.
  const signed = await client().call('source_sign', { name: source.name, ...content }, { signal });
  const { url, headers: signature, body_base64: bodyBase64 = null } = signed;
  await deliver(context, {
    kind: kind.kind,
    source: source.name,
    url,
    headers: { ...sample.headers, ...signature },
    // Some signatures are in the body.
    body: bodyBase64 === null ? made : Buffer.from(bodyBase64, 'base64'),
  });
}
