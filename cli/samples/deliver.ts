import { isObject, parseObject } from '../../shared/lib/guards.ts';
import type { CommandContext } from '../command.ts';
import { badAnswer, CliError, unreachable } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { safeJson } from '../view/terminal-text.ts';
import { postBytes, type HttpResult } from '../work/http-send.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

const SEND_TIMEOUT_MS = 30_000;

/** A sample for a source. */
interface Delivery {
  readonly kind: string;
  /** The source's name. */
  readonly source: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Sends the sample and prints the result. Returns the resulting event's id, or null for a report. */
export async function deliver(
  { output, signal }: CommandContext,
  { kind, source, url: address, headers, body }: Delivery,
): Promise<string | null> {
  const url = parsedUrl(address);
  if (!url) {
    throw badAnswer("This version of svc doesn't understand the source's URL.");
  }
  const sent = await post(url, headers, body, signal);
  const { status, event_id } = answerOf(sent);
  const line = { status, event_id, kind, source };
  output.line(
    output.json ? safeJson(line, 0) : `${status}  ${event_id ?? 'as a report'}  ${kind}  ${source}`,
  );
  return event_id;
}

async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<HttpResult> {
  try {
    return await postBytes(url, { headers, body, timeoutMs: SEND_TIMEOUT_MS, signal });
  } catch (error) {
    throw unreachable(`The delivery to ${url.origin} failed: ${messageOf(error)}`);
  }
}

function answerOf({ status, body, headers }: HttpResult): {
  status: string;
  event_id: string | null;
} {
  const answer = parseObject(body);
  // What some senders want to hear leaves no room in the body.
  const { 'svc-delivery': result = answer?.['status'] } = headers;
  const { 'svc-event-id': id = answer?.['event_id'] } = headers;
  if (status === 200 && (typeof id === 'string' || id === null)) {
    return { status: String(result), event_id: id };
  }
  throw refusalOf(status, answer?.['error']);
}

function refusalOf(status: number, error: unknown): CliError {
  const { code, message } = isObject(error) ? error : {};
  return new CliError({
    code: typeof code === 'string' ? code : `HTTP_${status}`,
    message:
      typeof message === 'string' && message !== ''
        ? message
        : `The source answered the delivery with HTTP ${status}.`,
    exit: EXIT.refused,
  });
}
