import type { CallToolResult } from '@modelcontextprotocol/server';
import { plainNumbers, stringifyExact } from '../../lib/exact-json.ts';
import type { Answer } from '../../kernel/executor.ts';
import { mayWait, type Operation } from '../../kernel/operation.ts';
import { isObject } from '../../lib/guards.ts';
import { markMeta, staleNote } from '../answer-marks.ts';
import { shownError } from '../http.ts';
import { fenceAnswer, UNTRUSTED_META } from './fence.ts';
import { markNumbers } from './numbers.ts';
import type { CallableTool, CallSite, Outlook } from './tables.ts';

const WAITING: Readonly<Record<Operation['effect'], string>> = {
  wait: 'still waiting, nothing lost',
  write: 'still waiting for a person; not denied',
  read: 'still working',
};

/** A tool that calls an operation. */
export class OperationTool implements CallableTool {
  readonly #operation: Operation;

  constructor(operation: Operation) {
    this.#operation = operation;
  }

  /** Waits and long-running work are held. */
  pace(): 'moment' | 'long' | 'wait' {
    if (this.#operation.effect === 'wait') return 'wait';
    return mayWait(this.#operation) ? 'long' : 'moment';
  }

  run(input: Record<string, unknown>, site: CallSite): Promise<CallToolResult> {
    const { executor, caller, signal } = site;
    return answerOf(this.#operation, site, () =>
      executor.execute(this.#operation, input, caller, signal),
    );
  }

  outlook(input: Record<string, unknown>): Outlook {
    const parsed = this.#operation.input.safeParse(plainNumbers(input, this.#operation.exact));
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
    return success(operation, await call());
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

function success(operation: Operation, answer: Answer): CallToolResult {
  const { value, replica } = answer;
  const untrusted = operation.mcp !== false && operation.mcp.untrusted;
  const fenced = untrusted && isObject(value) ? fenceAnswer(untrusted, value) : null;
  const texts = [
    fenced ? fenced.text : stringifyExact(value),
    ...(replica?.stale ? [staleNote(replica.ageMs / 1000)] : []),
  ];
  const structured = fenced ? fenced.structured : value;
  const meta = { ...(fenced && UNTRUSTED_META), ...markMeta(answer) };
  return {
    content: texts.map((text) => ({ type: 'text', text })),
    // The structured content must be an object; for null, the text alone says so.
    ...(isObject(structured) && { structuredContent: markNumbers(structured) }),
    isError: false,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}
