import { SOURCE, TYPE, SCHEME, SECRET, SIGNATURE_HEADER } from '../work/options.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { EXIT } from '../exit.ts';
import { usageError } from '../errors.ts';
import { EventFeed, type FeedEvent } from '../../clients/typescript/core/event-feed.ts';
import { forwardEvent, forwardUrl, type Signing } from '../work/forward.ts';
import { Lease, takeEvent, type Verdict } from '../../clients/typescript/core/lease.ts';
import { switchOption, textOption } from '../input/option-values.ts';
import { schemeInput, secretInput } from '../input/secret-input.ts';
import { checkSource } from '../work/source-check.ts';
import { safeJson } from '../view/terminal-text.ts';
import { StandardInput } from '../input/values.ts';
import { checkSecret } from '../../shared/rules/payload/signature.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { timeThere } from '../work/time-there.ts';
import { LOST_PLACE, lostPlace } from '../work/lost-place.ts';
import { LostClaims } from '../../clients/typescript/core/claim-loop.ts';

export const declaration: Declaration = {
  summary: 'Print new events as they arrive, or forward them.',
  description:
    "Prints new events without claiming them. With --forward, svc claims each event and sends it to the URL the way its sender did. A 2xx response acks it; anything else returns it to the queue to be retried later. svc doesn't store the original signatures: use --scheme and --secret to sign forwarded events.",
  args: [],
  options: [
    SOURCE,
    TYPE,
    {
      flag: 'forward',
      value: 'URL',
      summary: 'Send each event to this URL, host:port/path or port.',
    },
    { flag: 'backlog', summary: 'Start with events that are already pending.' },
    { ...SCHEME, summary: 'How to sign forwarded events.' },
    SECRET,
    SIGNATURE_HEADER,
  ],
  examples: [
    'listen',
    "listen --source github --type 'pull_request.*'",
    'listen --forward localhost:3000/webhooks --backlog',
    'listen --source stripe --forward 3000/stripe --scheme stripe --secret @secret.txt',
  ],
  seeAlso: ['inbox tail', 'inbox wait', 'inbox work', 'trigger'],
};

const WAIT_SECONDS = 60;
const LEASE_SECONDS = 60;

/** Prints events as they arrive, or forwards them to a URL. */
export async function run(context: CommandContext): Promise<number> {
  const { output, signal } = context;
  const target = textOption(context, 'forward');
  const url = target === undefined ? null : forwardUrl(target);
  const signing = await signingInput(context, url !== null);
  const feed = new EventFeed({
    client: context.client(),
    source: textOption(context, 'source'),
    type: textOption(context, 'type'),
    signal,
    trouble: (text) => output.note(text),
  });
  const since = switchOption(context, 'backlog') ? undefined : await timeThere(context.client());
  const where = url === null ? 'Listening' : `Forwarding to ${url.href}`;
  output.note(`${where}. Press Ctrl-C to stop.`);
  void checkSource(context);
  if (url === null) await print(context, feed, since);
  else await forward(context, feed, { url, signing, since });
  return EXIT.interrupted;
}

/** Prints without claiming: each wait continues after the last event. */
async function print(context: CommandContext, feed: EventFeed, from: string | undefined) {
  const { output } = context;
  let since = from;
  let after: string | undefined;
  for (;;) {
    const waited = await feed.next({ seconds: WAIT_SECONDS, since, after }).catch(lostPlace);
    if (waited === 'lost') {
      output.note(`${LOST_PLACE} (it has no ${after ?? ''}). Continuing with new events.`);
      since = await timeThere(context.client());
      after = undefined;
      continue;
    }
    if (waited === null) return;
    const { event } = waited;
    after = event?.id ?? after;
    if (event) output.line(output.json ? safeJson(event, 0) : readable(event));
  }
}

interface Forwarding {
  readonly url: URL;
  readonly signing: Signing | null;
  readonly since: string | undefined;
}

/**
 * Claims each event, sends it, and acks or nacks it by the receiver's answer. A claimed event isn't pending, so each
 * wait asks the same; a returned event comes back after its pause.
 */
async function forward(
  context: CommandContext,
  feed: EventFeed,
  { url, signing, since }: Forwarding,
) {
  const { output, signal } = context;
  const client = context.client();
  const note = (text: string): void => output.note(text);
  const options = { client, leaseSeconds: LEASE_SECONDS, signal, kill: signal, note };
  const lost = new LostClaims();
  for (;;) {
    const waited = await feed.next({ seconds: WAIT_SECONDS, since });
    if (waited === null) return;
    if (waited.event === null) continue;
    const claim = await takeEvent(options, waited.event.id);
    if (claim === null) {
      await lost.pause(waited.event.id, signal);
      continue;
    }
    const { event } = claim;
    const lease = new Lease(options, claim);
    try {
      const sent = await send(event, { url, signing, signal });
      const { outcome } = await lease.close(sent.verdict);
      const { id: event_id, type, source } = event;
      const { status, error, duration_ms } = sent;
      const line = { event_id, type, source, status, error, duration_ms, outcome };
      output.line(output.json ? safeJson(line, 0) : forwardedLine(line));
    } finally {
      lease.release();
    }
  }
}

async function send(
  event: FeedEvent,
  to: { readonly url: URL; readonly signing: Signing | null; readonly signal: AbortSignal },
): Promise<{
  verdict: Verdict;
  status: number | null;
  error: string | null;
  duration_ms: number | null;
}> {
  try {
    const { status, durationMs } = await forwardEvent(to.url, event, to.signing, to.signal);
    const taken = status >= 200 && status < 300;
    const reason = `The receiver answered ${status}.`;
    const verdict: Verdict = taken
      ? { ack: true, result: { forwarded: status } }
      : { ack: false, reason, retry: true };
    return { verdict, status, error: taken ? null : reason, duration_ms: durationMs };
  } catch (error) {
    const reason = to.signal.aborted ? 'The forwarding was interrupted.' : messageOf(error);
    const verdict: Verdict = { ack: false, reason: reason || 'No answer.', retry: true };
    return { verdict, status: null, error: reason, duration_ms: null };
  }
}

async function signingInput(context: CommandContext, forwards: boolean): Promise<Signing | null> {
  if (textOption(context, 'scheme') === undefined) {
    if (textOption(context, 'secret') === undefined) return null;
    throw usageError(
      '--secret needs --scheme.',
      'For example: --scheme github --secret @secret.txt',
    );
  }
  const verification = schemeInput(context);
  if (!forwards) throw usageError('--scheme needs --forward URL.');
  const secret = await secretInput(context, new StandardInput(context.signal));
  if (secret === null) {
    throw usageError('--scheme needs a secret.', 'Pass --secret @file, or set SVC_WEBHOOK_SECRET.');
  }
  const problem = checkSecret(verification, secret);
  if (problem !== null) throw usageError(problem);
  return { verification, secret, signatureHeader: textOption(context, 'signature-header') };
}

function clock(): string {
  return new Date().toTimeString().slice(0, 8);
}

function readable(event: FeedEvent): string {
  const mark = event.verified ? 'verified' : 'not verified';
  return `${clock()}  ${event.source}  ${event.type}  ${event.id}  ${mark}`;
}

function forwardedLine(line: {
  readonly event_id: string;
  readonly type: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}): string {
  const { event_id, type, status, error, duration_ms } = line;
  const result = status === null ? (error ?? 'failed') : `${status}  ${duration_ms ?? 0} ms`;
  return `${clock()}  ${type}  ${event_id}  ${result}`;
}
