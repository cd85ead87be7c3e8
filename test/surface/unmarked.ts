import { isObject } from '../../shared/lib/guards.ts';

type Fields = Record<string, unknown>;

/** An answer without the marks that tools put on what comes from outside, as REST gives it. */
export function unmarked({ notice, ...answer }: Fields): Fields {
  if (notice === undefined) return answer;
  const { trust: _trust, ...plain } = answer;
  const whole = together('source' in answer ? answer : plain);
  return Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, inside(value)]));
}

function inside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inside);
  return isObject(value) ? together(value) : value;
}

/** The fields from outside among the others. */
function together({ untrusted, ...ours }: Fields): Fields {
  return { ...ours, ...(isObject(untrusted) && untrusted) };
}
