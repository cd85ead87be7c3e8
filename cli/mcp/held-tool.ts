import { parseExact, stringifyExact } from '../../shared/lib/json/exact-json.ts';
import { isObject } from '../../shared/lib/guards.ts';
import { leastOf } from '../../shared/lib/held-call.ts';
import { WAIT_DEFAULT_SECONDS } from '../../shared/lib/limits.ts';
import type { Endpoint } from '../../clients/typescript/call/endpoint.ts';
import { ENDPOINTS } from '../../clients/typescript/generated/endpoints.ts';

/** A tool call whose answer the server may hold. */
export interface HeldTool {
  readonly seconds: number;
  /** The shortest that it can be held. */
  readonly least: number;
  /** The message with other seconds. */
  readonly line: (seconds: number) => Buffer;
}

/** Reads how long a message wants to wait; null if it doesn't. */
export function heldTool(line: string): HeldTool | null {
  const message = parsed(line);
  const params = message?.['method'] === 'tools/call' ? message['params'] : undefined;
  if (!isObject(params)) return null;
  const field = waitFieldOf(params['name']);
  if (field === undefined) return null;
  const input = isObject(params['arguments']) ? params['arguments'] : {};
  const seconds = Number(input[field] ?? WAIT_DEFAULT_SECONDS);
  if (!(seconds > 0)) return null;
  const withSeconds = (held: number) => ({
    ...message,
    params: { ...params, arguments: { ...input, [field]: held } },
  });
  return {
    seconds,
    least: leastOf(field),
    line: (held) => Buffer.from(held === seconds ? line : stringifyExact(withSeconds(held))),
  };
}

function waitFieldOf(tool: unknown): string | undefined {
  if (typeof tool !== 'string' || !Object.hasOwn(ENDPOINTS, tool)) return undefined;
  const place: Endpoint = ENDPOINTS[tool as keyof typeof ENDPOINTS];
  return place.seconds;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value = parseExact(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
