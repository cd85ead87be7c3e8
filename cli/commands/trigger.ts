import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { isObject } from '../../shared/untyped.ts';
import { badAnswer, CliError, messageOf, unreachable, usageError } from '../errors.ts';
import { postBytes, type Sent } from '../work/http-send.ts';
import {
  integerOption,
  listOption,
  switchOption,
  textArgument,
  textOption,
} from '../input/option-values.ts';
import { setPath } from '../input/set-path.ts';
import { safeJson } from '../view/terminal-text.ts';
import { nearest } from '../../shared/suggest.ts';
import type { Sample, SampleKind } from './samples/fresh.ts';
import { sampleKinds } from './samples/kinds.ts';

const COUNT_MAX = 10_000;
const SEND_TIMEOUT_MS = 30_000;

interface Source {
  readonly name: string;
  readonly verification: string;
}

/** Sends fresh, signed samples of a provider's deliveries to one of the project's sources. */
export async function run(context: CommandContext): Promise<number> {
  const { output } = context;
  if (switchOption(context, 'list')) {
    listKinds(context);
    return EXIT.done;
  }
  const kind = findKind(textArgument(context, 'kind'));
  const count = integerOption(context, 'count', { min: 1, max: COUNT_MAX }) ?? 1;
  if (switchOption(context, 'dry-run')) {
    for (let made = 0; made < count; made += 1) {
      const { headers, payload } = makeSample(context, kind);
      output.answer({ kind: kind.kind, headers, payload });
    }
    return EXIT.done;
  }
  // A sample that cannot be made is a usage error, and should be one before anything is asked.
  makeSample(context, kind);
  const source = await findSource(context, kind);
  for (let sent = 0; sent < count; sent += 1) {
    if (context.signal.aborted) return EXIT.interrupted;
    await sendOne(context, kind, source);
  }
  if (!output.json) output.note(`Next: svc inbox list --source ${source.name}`);
  return EXIT.done;
}

function listKinds({ output }: CommandContext): void {
  const items = sampleKinds.map(({ kind, verification, summary }) => ({
    kind,
    verification: verification ?? 'any',
    summary,
  }));
  output.answer({ items, next_cursor: null }, { columns: ['kind', 'verification', 'summary'] });
}

function findKind(name: string | undefined): SampleKind {
  if (name === undefined) {
    throw usageError(
      'Name what to send.',
      'For example: svc trigger github.push. All: svc trigger --list',
    );
  }
  const found = sampleKinds.find((candidate) => candidate.kind === name);
  if (found) return found;
  const kinds = sampleKinds.map(({ kind }) => kind);
  const near = kinds.filter((kind) => kind.startsWith(`${name}.`) || kind.endsWith(`.${name}`));
  const meant = near.length > 0 ? near.join(', ') : nearest(name, kinds);
  const hint = meant === null ? 'See them all: svc trigger --list' : `Did you mean: ${meant}?`;
  throw usageError(`There is no sample \`${name}\`.`, hint);
}

function makeSample(context: CommandContext, kind: SampleKind): Sample {
  const sample = kind.build();
  for (const assignment of listOption(context, 'set')) setPath(sample.payload, assignment);
  return sample;
}

async function findSource(context: CommandContext, kind: SampleKind): Promise<Source> {
  const answer = await context.client().call('GET', '/v1/sources');
  const items = isObject(answer) && Array.isArray(answer['items']) ? answer['items'] : [];
  const sources = items.filter((item) => isWebhookSource(item));
  const wanted = textOption(context, 'source');
  return wanted === undefined ? onlyFitting(sources, kind) : named(sources, wanted, kind, context);
}

function isWebhookSource(item: unknown): item is Source {
  return isObject(item) && item['type'] === 'webhook' && typeof item['name'] === 'string';
}

function named(
  sources: readonly Source[],
  name: string,
  kind: SampleKind,
  context: CommandContext,
): Source {
  const source = sources.find((candidate) => candidate.name === name);
  if (source === undefined) {
    const names = sources.map((candidate) => candidate.name).join(', ') || 'none';
    const hint = `Webhook sources: ${names}. Add one: ${addLine(kind, name)}`;
    throw usageError(`There is no webhook source \`${name}\`.`, hint);
  }
  if (kind.verification !== null && source.verification !== kind.verification) {
    const { verification } = source;
    context.output.note(
      `Source ${name} verifies as ${verification}, not ${kind.verification}: the type will be webhook.received.`,
    );
  }
  return source;
}

function onlyFitting(sources: readonly Source[], kind: SampleKind): Source {
  const fitting = sources.filter(({ verification }) =>
    kind.verification === null
      ? verification !== 'github' && verification !== 'stripe'
      : verification === kind.verification,
  );
  const [first, ...others] = fitting;
  if (first === undefined) {
    const what = kind.verification === null ? 'a generic webhook' : `\`${kind.verification}\``;
    throw usageError(`No source takes ${what} yet.`, `Add one: ${addLine(kind)}`);
  }
  if (others.length === 0) return first;
  const names = fitting.map(({ name }) => name).join(', ');
  throw usageError(`Several sources fit: ${names}.`, `Choose one with --source ${first.name}`);
}

/** The command that makes a source for this kind. */
function addLine(kind: SampleKind, name: string = kind.verification ?? 'webhook'): string {
  return kind.verification === null
    ? `svc source add ${name}`
    : `svc source add ${name} --verification ${kind.verification} --secret @secret.txt`;
}

async function sendOne(context: CommandContext, kind: SampleKind, source: Source): Promise<void> {
  const { headers, payload } = makeSample(context, kind);
  const body = Buffer.from(JSON.stringify(payload));
  // The secret never leaves the server, so the signature is made there.
  const signed = await context
    .client()
    .call('POST', `/v1/sources/${encodeURIComponent(source.name)}/sign`, {
      body: { body_base64: body.toString('base64') },
      signal: context.signal,
    });
  const { url, signature } = signedParts(signed);
  const sent = await post(url, { ...headers, ...signature }, body, context.signal);
  const { status, event_id } = answerOf(sent);
  const line = { status, event_id, kind: kind.kind, source: source.name };
  const { output } = context;
  output.line(
    output.json ? safeJson(line, 0) : `${status}  ${event_id}  ${kind.kind}  ${source.name}`,
  );
}

function signedParts(answer: unknown): { url: URL; signature: Record<string, string> } {
  const url = isObject(answer) ? answer['url'] : undefined;
  const headers = isObject(answer) ? answer['headers'] : undefined;
  if (typeof url !== 'string' || !URL.canParse(url) || !isObject(headers)) {
    throw badAnswer('The signature was answered in a form this version does not know.');
  }
  const signature: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) signature[name] = String(value);
  return { url: new URL(url), signature };
}

async function post(
  url: URL,
  headers: Record<string, string>,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Sent> {
  try {
    return await postBytes(url, { headers, body, timeoutMs: SEND_TIMEOUT_MS, signal });
  } catch (error) {
    throw unreachable(`The delivery to ${url.origin} failed: ${messageOf(error)}`);
  }
}

function answerOf({ status, body }: Sent): { status: string; event_id: string } {
  const answer = parsed(body);
  if (status === 200 && isObject(answer) && typeof answer['event_id'] === 'string') {
    return { status: String(answer['status']), event_id: answer['event_id'] };
  }
  const error = isObject(answer) ? answer['error'] : undefined;
  const code =
    isObject(error) && typeof error['code'] === 'string' ? error['code'] : `HTTP_${status}`;
  const message = isObject(error) && typeof error['message'] === 'string' ? error['message'] : '';
  throw new CliError({
    code,
    message: message || `The delivery was answered with ${status}.`,
    exit: EXIT.refused,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
