import type { Caller } from '../context.ts';
import type { Executor } from '../executor.ts';
import { mayWait, type Operation } from '../operation.ts';
import { markMeta } from './answer-marks.ts';
import { shownError, type OnInternalError } from './http.ts';
import { fenceAnswer } from './mcp-fence.ts';
import { invalidParams, isFields, type Message } from './mcp-protocol.ts';
import type { ToolBook } from './mcp-tools.ts';

/** A `tools/call` that found its tool. */
export interface ToolCall {
  readonly operation: Operation;
  readonly input: Record<string, unknown>;
}

/** The members of a result as JSON texts, and what belongs into its `_meta`. */
export interface ResultParts {
  readonly members: readonly string[];
  readonly meta: readonly string[];
}

const META_UNTRUSTED = ['"svc/trust":"external_untrusted"'];

/** Finds the tool and its arguments. Whether the key may call it, the executor says. */
export function readToolCall(message: Message, tools: ToolBook): ToolCall {
  const { name, arguments: input = {} } = message.params;
  if (typeof name !== 'string') throw invalidParams('Invalid params: name must be a string');
  if (!isFields(input)) throw invalidParams('Invalid params: arguments must be an object');
  const operation = tools.find(name);
  if (!operation) throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`);
  return { operation, input };
}

/** Calls that are held: waits, and work in many portions. */
export function isLong(operation: Operation): boolean {
  return operation.effect === 'wait' || mayWait(operation);
}

/** Where a tool runs, for whom, and until when. */
export interface ToolRun {
  readonly executor: Executor;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly onInternal: OnInternalError;
}

/** Runs a tool. A failure is a result too, which the model reads. Never rejects. */
export async function runTool(call: ToolCall, run: ToolRun): Promise<ResultParts> {
  const { executor, caller, signal, onInternal } = run;
  try {
    const answer = await executor.execute(call.operation, call.input, caller, signal);
    const { members, meta } = success(call.operation, answer.value);
    return { members, meta: [...meta, ...markMeta(answer)] };
  } catch (error) {
    // Whatever a call throws after its client left is of no interest.
    const noted = signal.aborted ? () => {} : onInternal;
    const text = JSON.stringify(shownError(error, caller.requestId, noted).line());
    return { members: [`"content":[{"type":"text","text":${text}}]`, '"isError":true'], meta: [] };
  }
}

function success(operation: Operation, value: unknown): ResultParts {
  const untrusted = operation.mcp !== false && operation.mcp.untrusted;
  const fenced = untrusted && isFields(value) ? fenceAnswer(untrusted, value) : null;
  const structured = fenced ? fenced.structured : JSON.stringify(value);
  const text = JSON.stringify(fenced ? fenced.text : structured);
  return {
    members: [
      `"content":[{"type":"text","text":${text}}]`,
      // It has to be an object: that there is nothing, the text alone says.
      ...(isFields(value) ? [`"structuredContent":${structured}`] : []),
      '"isError":false',
    ],
    meta: fenced ? META_UNTRUSTED : [],
  };
}

const WAITING: Readonly<Record<Operation['effect'], string>> = {
  wait: 'still waiting, nothing lost',
  write: 'still waiting for a person; not denied',
  read: 'still working',
};

/** The progress notification of a held call, for a client that gave a token. */
export function progressOf(
  message: Message,
  { operation, input }: ToolCall,
): ((elapsedSeconds: number) => string) | null {
  const progressToken = message.meta['progressToken'];
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return null;
  const total = waitSeconds(operation, input);
  const text = WAITING[operation.effect];
  return (progress) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress, total, message: text },
    });
}

function waitSeconds(operation: Operation, input: Record<string, unknown>): number | undefined {
  const parsed = operation.input.safeParse(input);
  const seconds = parsed.data?.['timeout_seconds'] ?? parsed.data?.['wait_seconds'];
  return typeof seconds === 'number' ? seconds : undefined;
}
