import type { CallToolResult } from '@modelcontextprotocol/server';
import type * as z from 'zod';
import { plainNumbers } from '../../lib/json/exact-json.ts';
import type { Answer } from '../../kernel/executor.ts';
import { mayWait, type Operation } from '../../kernel/operation.ts';
import { isObject } from '../../lib/guards.ts';
import { markMeta, staleNote } from '../answer-marks.ts';
import { shownError } from '../http.ts';
import { readArguments } from './arguments.ts';
import { UNTRUSTED_META } from './untrusted.ts';
import { fittingAnswer, shownAnswer } from './fit.ts';
import { markNumbers } from './numbers.ts';
import { inputSchema, type ObjectSchema } from './schema.ts';
import type { CallableTool, CallSite, Outlook, WaitsFor } from './tables.ts';
import { callTaskId } from './tasks/task-id.ts';

const WAITING: Readonly<Record<Operation['effect'], string>> = {
  wait: 'still waiting, nothing lost',
  write: 'still waiting for a person; not denied',
  read: 'still working',
};

/** A tool that calls an operation. */
export class OperationTool implements CallableTool {
  readonly #operation: Operation;
  readonly #input: z.ZodObject;
  #schema: ObjectSchema | undefined;

  /** `input`: the tool's own arguments, if it has others than the operation. */
  constructor(operation: Operation, input = operation.input) {
    this.#operation = operation;
    this.#input = input;
  }

  inputOf(given: Record<string, unknown>): Record<string, unknown> {
    this.#schema ??= inputSchema(this.#input);
    return readArguments(this.#schema, given);
  }

  /** Waits and long-running work are held. */
  pace(): 'moment' | 'long' | 'wait' {
    if (this.#operation.effect === 'wait') return 'wait';
    return mayWait(this.#operation) ? 'long' : 'moment';
  }

  run(input: Record<string, unknown>, site: CallSite): Promise<CallToolResult> {
    const { executor, caller, signal } = site;
    const call = (one: Record<string, unknown>) =>
      executor.execute(this.#operation, one, caller, signal);
    return answerOf(this.#operation, site, () => fittingAnswer(this.#operation, input, call));
  }

  /** Asks, and leaves: somebody decides later. */
  async start(input: Record<string, unknown>, site: CallSite): Promise<CallToolResult | WaitsFor> {
    const { mcp, name } = this.#operation;
    if (mcp === false || !mcp.asks || !this.#parsed(input).success) return this.run(input, site);
    const result = await this.run({ ...input, wait_seconds: 0 }, site);
    const { structuredContent: asked } = result;
    if (!isObject(asked)) return result;
    const { status, request_id: waitsFor, parked, warnings } = asked;
    if (status !== 'pending' || parked === true || typeof waitsFor !== 'string') return result;
    // What the policy's author must know stands in the answer only.
    if (Array.isArray(warnings) && warnings.length > 0) return result;
    if (mcp.asks === 'once') return { waitsFor };
    const { wait_seconds: _seconds, ...again } = input;
    const open =
      mcp.asks === 'mail'
        ? { batch_id: asked['batch_id'], request_id: waitsFor }
        : { ...again, approval: waitsFor };
    return { waitsFor: callTaskId(name, open, site) };
  }

  #parsed(input: Record<string, unknown>) {
    return this.#operation.input.safeParse(plainNumbers(input, this.#operation.exact));
  }

  outlook(input: Record<string, unknown>): Outlook {
    const parsed = this.#parsed(input);
    const seconds = parsed.data?.['timeout_seconds'] ?? parsed.data?.['wait_seconds'];
    return {
      message: WAITING[this.#operation.effect],
      total: typeof seconds === 'number' ? seconds : undefined,
    };
  }
}

/** The result of a call, or its failure as a result that the model reads. */
export async function answerOf(
  operation: Operation,
  { caller, signal, onInternal }: CallSite,
  call: () => Promise<Answer>,
): Promise<CallToolResult> {
  try {
    return resultWith(operation, await call());
  } catch (error) {
    // After the client has left, the errors of its call don't matter.
    const noted = signal.aborted ? () => {} : onInternal;
    const shown = shownError(error, caller.requestId, noted);
    const { code, details } = shown;
    return {
      content: [{ type: 'text', text: shown.line() }],
      isError: true,
      ...(details && { _meta: { 'svc/error': { ...details, code } } }),
    };
  }
}

export function resultWith(operation: Operation, answer: Answer): CallToolResult {
  const { value, replica } = answer;
  const { text, structured, isForeign } = shownAnswer(operation, value);
  const texts = [text, ...(replica?.stale ? [staleNote(replica.ageMs / 1000)] : [])];
  const meta = { ...(isForeign && UNTRUSTED_META), ...markMeta(answer) };
  return {
    content: texts.map((one) => ({ type: 'text', text: one })),
    // The structured content must be an object; for null, the text alone says so.
    ...(isObject(structured) && { structuredContent: markNumbers(structured) }),
    isError: false,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}
