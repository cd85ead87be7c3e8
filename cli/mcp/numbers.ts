import { mayChange, parseExact } from '../../shared/lib/exact-json.ts';
import { markNumbers } from '../../shared/api/mcp/numbers.ts';
import { isObject } from '../../shared/lib/guards.ts';

/** The JSON with marks for the numbers that the SDK would round; text that is no JSON as it is. */
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
