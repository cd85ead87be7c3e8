import type { Caller } from '../context.ts';
import { asServiceError } from '../errors.ts';
import type { Executor } from '../executor.ts';
import type { Operation } from '../operation.ts';
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
  return operation.effect === 'wait' || operation.handler.kind === 'long';
}

/** Runs a tool. A failure is a result too, which the model reads. */
export async function runTool(
  executor: Executor,
  { operation, input }: ToolCall,
  caller: Caller,
  signal: AbortSignal,
): Promise<ResultParts> {
  try {
    return success(operation, await executor.execute(operation, input, caller, signal));
  } catch (error) {
    const text = JSON.stringify(asServiceError(error).line());
    return { members: [`"content":[{"type":"text","text":${text}}]`, '"isError":true'], meta: [] };
  }
}

function success(operation: Operation, answer: unknown): ResultParts {
  const untrusted = operation.mcp !== false && operation.mcp.untrusted;
  const fenced = untrusted && isFields(answer) ? fenceAnswer(untrusted, answer) : null;
  const structured = fenced ? fenced.structured : JSON.stringify(answer);
  const text = JSON.stringify(fenced ? fenced.text : structured);
  return {
    members: [
      `"content":[{"type":"text","text":${text}}]`,
      `"structuredContent":${structured}`,
      '"isError":false',
    ],
    meta: fenced ? META_UNTRUSTED : [],
  };
}

/** The progress notification of a held call, for a client that gave a token. */
export function progressOf(
  message: Message,
  { operation, input }: ToolCall,
): ((elapsedSeconds: number) => string) | null {
  const progressToken = message.meta['progressToken'];
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return null;
  const total = waitSeconds(operation, input);
  const text = operation.effect === 'wait' ? 'still waiting, nothing lost' : 'still working';
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
