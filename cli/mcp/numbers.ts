import { mayChange, parseExact } from '../../shared/lib/json/exact-json.ts';
import { markNumbers } from '../../shared/api/mcp/numbers.ts';
import { isObject } from '../../shared/lib/guards.ts';

/** Marks numbers in JSON that the SDK would round; text that isn't JSON stays unchanged. */
export function markedJson(text: string): string {
  if (!mayChange(text)) return text;
  try {
    const value = parseExact(text);
    if (!isObject(value)) return text;
    const marked = markNumbers(value);
    return marked === value ? text : JSON.stringify(marked);
  } catch {
    return text;
  }
}
