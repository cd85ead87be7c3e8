import type { IncomingMessage } from 'node:http';
import { parseExact } from '../../shared/lib/json/exact-json.ts';
import { parseObject } from '../../shared/lib/guards.ts';
import type { CommandContext, Declaration } from '../command.ts';
import { answeredFailure } from '../../clients/typescript/core/errors.ts';
import { CallError, usageError } from '../errors.ts';
import { isSendable } from '../call/header.ts';
import type { Output } from '../view/output.ts';
import { jsonLines } from '../view/json.ts';
import { bytesOf, StandardInput } from '../input/values.ts';

export const declaration: Declaration = {
  summary: 'Send an API request and print the raw response.',
  description:
    'For anything without a command of its own. svc adds your key, the agent label and an Idempotency-Key. It prints error responses too, and they set the exit code.',
  args: [
    {
      name: 'method',
      required: true,
      summary: 'GET, POST, PUT or DELETE',
      choices: ['GET', 'POST', 'PUT', 'DELETE'],
    },
    {
      name: 'path',
      required: true,
      summary: 'The path with its query, such as /v1/inbox?limit=5',
    },
  ],
  options: [
    {
      flag: 'body',
      value: 'JSON',
      summary: 'The request body: JSON, @file or - for standard input',
    },
    {
      flag: 'header',
      short: 'H',
      value: 'HEADER',
      summary: 'An extra header, as "Name: value"; repeatable',
      repeatable: true,
    },
  ],
  writes: true,
  examples: [
    'api GET /v1/whoami',
    `api POST /v1/inbox/claim --body '{"event_id":"evt_01j9z3k4m5n6p7q8r9s0t1v2w3"}'`,
    'api GET /v1/openapi.json > openapi.json',
  ],
  seeAlso: ['auth token', 'help environment'],
};

/** A stream may be silent for as long as the longest wait. */
const SILENCE_MS = 135_000;
const LINE_FEED = 0x0a;
const JSON_TYPE = /^application\/([\w.+-]+\+)?json\b/i;
const TEXT_TYPE = new RegExp(`^text/|${JSON_TYPE.source}`, 'i');

/** Prints the answer's body whatever its status; an error status also sets the exit code. */
export async function run(context: CommandContext): Promise<number> {
  const { args, options, output, signal, tries } = context;
  const method = text(args['method']).toUpperCase();
  if (!/^[A-Z]+$/.test(method)) throw usageError(`"${method}" isn't an HTTP method.`);
  const headers = readHeaders(options['header']);
  const [, key] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'idempotency-key') ?? [];
  if (key !== undefined) tries.adopt(key);
  const given = options['body'];
  const bytes =
    typeof given === 'string'
      ? await bytesOf(given, '--body', new StandardInput(signal))
      : undefined;
  const response = await context.client().raw(method, readPath(text(args['path'])), {
    headers: { ...(bytes && { 'content-type': 'application/json' }), ...headers },
    ...(bytes && { bytes }),
    signal,
    timeoutMs: SILENCE_MS,
  });
  const status = response.statusCode ?? 0;
  const failed = status >= 400;
  const body = await printBody(response, output, failed);
  if (!failed) return 0;
  output.note(`HTTP ${status}`);
  const failure = new CallError(answeredFailure(status, parseObject(body)));
  const repeat = tries.repeatAfter(failure);
  if (repeat !== null) output.note(repeat);
  return failure.exit;
}

/**
 * Prints the body byte for byte as it arrives. On a terminal it indents JSON (unless --json asks for it unchanged) and
 * adds a missing final newline to text. Returns the body if it printed indented JSON or if the call failed.
 */
async function printBody(
  response: IncomingMessage,
  output: Output,
  failed: boolean,
): Promise<string> {
  const type = response.headers['content-type'] ?? '';
  const forPerson = JSON_TYPE.test(type) && !output.json;
  const chunks: Buffer[] = [];
  let last = LINE_FEED;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    last = chunk.at(-1) ?? last;
    if (forPerson || failed) chunks.push(chunk);
    if (!forPerson) output.bytes(chunk);
  }
  const body = Buffer.concat(chunks).toString('utf8');
  if (forPerson) printIndented(body, output);
  else if (output.terminal && last !== LINE_FEED && TEXT_TYPE.test(type))
    output.bytes(Buffer.of(LINE_FEED));
  return body;
}

function printIndented(body: string, output: Output): void {
  try {
    const value = parseExact(body);
    output.lines((look) => jsonLines(value, look));
  } catch {
    output.line(body.replace(/\n$/, ''));
  }
}

function readPath(path: string): string {
  if (/^\/[\u0021-\u007e]*$/.test(path)) return path;
  throw usageError(
    `"${path}" isn't a path.`,
    'Start it with / and URL-encode special characters: /v1/inbox?type=invoice.*',
  );
}

function readHeaders(given: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of Array.isArray(given) ? (given as readonly string[]) : []) {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined || !isSendable(name, value)) {
      throw usageError(`"${line}" isn't a header.`, "Write it as: --header 'Name: value'");
    }
    headers[name] = value;
  }
  return headers;
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
