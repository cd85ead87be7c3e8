import { plainNumbers, stringifyExact } from '../exact-json.ts';
import type { Answer } from '../executor.ts';
import { mayWait, type Operation } from '../operation.ts';
import { markMeta, staleNote } from './answer-marks.ts';
import { shownError } from './http.ts';
import { fenceAnswer, UNTRUSTED_META } from './mcp-fence.ts';
import { invalidParams, isFields, type Message } from './mcp-protocol.ts';
import type { CallableTool, CallSite, Outlook, ResultParts, ToolTable } from './mcp-tables.ts';

/** A `tools/call` that found its tool. */
export interface ToolCall {
  readonly tool: CallableTool;
  readonly input: Record<string, unknown>;
}

const META_UNTRUSTED = [JSON.stringify(UNTRUSTED_META).slice(1, -1)];

/** Finds the tool and its arguments. Whether the key may call it, the executor says. */
export function readToolCall(message: Message, tools: ToolTable): ToolCall {
  const { name, arguments: input = {} } = message.params;
  if (typeof name !== 'string') throw invalidParams('Invalid params: name must be a string');
  if (!isFields(input)) throw invalidParams('Invalid params: arguments must be an object');
  const tool = tools.find(name);
  if (!tool) throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`);
  return { tool, input };
}

const WAITING: Readonly<Record<Operation['effect'], string>> = {
  wait: 'still waiting, nothing lost',
  write: 'still waiting for a person; not denied',
  read: 'still working',
};

/** A tool that is an operation. */
export class OperationTool implements CallableTool {
  readonly #operation: Operation;
  readonly pace: CallableTool['pace'];

  constructor(operation: Operation) {
    this.#operation = operation;
    this.pace = paceOf(operation);
  }

  async run(input: Record<string, unknown>, site: CallSite): Promise<ResultParts> {
    const { executor, caller, signal, onInternal } = site;
    try {
      const answer = await executor.execute(this.#operation, input, caller, signal);
      const { members, meta } = success(this.#operation, answer);
      return { members, meta: [...meta, ...markMeta(answer)] };
    } catch (error) {
      // Whatever a call throws after its client left is of no interest.
      const noted = signal.aborted ? () => {} : onInternal;
      const shown = shownError(error, caller.requestId, noted);
      const { code, details } = shown;
      return {
        members: [
          `"content":[{"type":"text","text":${JSON.stringify(shown.line())}}]`,
          '"isError":true',
        ],
        meta: details ? [`"svc/error":${JSON.stringify({ ...details, code })}`] : [],
      };
    }
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

/** Waits, and work in many portions, are held. */
function paceOf(operation: Operation): CallableTool['pace'] {
  if (operation.effect === 'wait') return 'wait';
  return mayWait(operation) ? 'long' : 'moment';
}

function success(operation: Operation, { value, replica }: Answer): ResultParts {
  const untrusted = operation.mcp !== false && operation.mcp.untrusted;
  const fenced = untrusted && isFields(value) ? fenceAnswer(untrusted, value) : null;
  const structured = fenced ? fenced.structured : stringifyExact(value);
  const texts = [
    fenced ? fenced.text : structured,
    ...(replica?.stale ? [staleNote(replica.ageMs / 1000)] : []),
  ];
  const content = texts.map((text) => `{"type":"text","text":${JSON.stringify(text)}}`).join(',');
  return {
    members: [
      `"content":[${content}]`,
      // It has to be an object: that there is nothing, the text alone says.
      ...(isFields(value) ? [`"structuredContent":${structured}`] : []),
      '"isError":false',
    ],
    meta: fenced ? META_UNTRUSTED : [],
  };
}

/** The progress notification of a held call, for a client that gave a token. */
export function progressOf(
  message: Message,
  { tool, input }: ToolCall,
): ((elapsedSeconds: number) => string) | null {
  const progressToken = message.meta['progressToken'];
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return null;
  const { total, message: text } = tool.outlook(input);
  return (progress) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress, total, message: text },
    });
}
