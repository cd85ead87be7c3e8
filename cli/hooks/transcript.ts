import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../shared/lib/guards.ts';
import type { ToolCall } from './tool-call.ts';

/** How much of the end of a transcript may have the call. */
const TAIL_BYTES = 256 * 1024;

/**
 * The transcript of a Claude Code session: lines of JSON that are appended, among them each call of a tool and, once it
 * has run or was refused, its result.
 */
export class Transcript {
  readonly #path: string;
  readonly #call: Pick<ToolCall, 'tool' | 'input'>;
  /** Calls like ours that have no result yet. */
  readonly #open = new Set<string>();
  #at: number | null = null;
  #rest = '';

  constructor(path: string, call: Pick<ToolCall, 'tool' | 'input'>) {
    this.#path = path;
    this.#call = call;
    // What was there before is about earlier calls.
    this.isAnswered();
  }

  /** Whether the call got a result since the last check. */
  isAnswered(): boolean {
    const ended = this.#added()
      .flatMap(partsOf)
      .filter((part) => this.#isEnd(part));
    return ended.length > 0;
  }

  #isEnd(part: Readonly<Record<string, unknown>>): boolean {
    const { type, id, name, input, tool_use_id: of } = part;
    if (type === 'tool_use' && name === this.#call.tool && this.#isSame(input)) {
      this.#open.add(String(id));
    }
    return type === 'tool_result' && this.#open.delete(String(of));
  }

  /** The client may have added defaults to what the agent wrote. */
  #isSame(input: unknown): boolean {
    const { input: own } = this.#call;
    if (!isObject(input) || !isObject(own)) return isDeepStrictEqual(input, own);
    return Object.entries(input).every(([name, value]) => isDeepStrictEqual(value, own[name]));
  }

  /** The whole lines that were added. */
  #added(): string[] {
    const lines = (this.#rest + this.#read()).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  #read(): string {
    let file: number;
    try {
      file = openSync(this.#path, 'r');
    } catch {
      return '';
    }
    try {
      const { size } = fstatSync(file);
      const from = this.#at ?? Math.max(0, size - TAIL_BYTES);
      const bytes = Buffer.alloc(Math.max(0, size - from));
      this.#at = from + readSync(file, bytes, 0, bytes.length, from);
      return bytes.toString('latin1', 0, this.#at - from);
    } finally {
      closeSync(file);
    }
  }
}

/** The parts of a line's message; none if it has no message. */
function partsOf(line: string): Record<string, unknown>[] {
  if (!line.includes('"tool_')) return [];
  try {
    const entry: unknown = JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
    const message = isObject(entry) ? entry['message'] : null;
    const content = isObject(message) ? message['content'] : null;
    return Array.isArray(content) ? content.filter(isObject) : [];
  } catch {
    return [];
  }
}
