import * as z from 'zod';
import { KV_KEY_MAX_BYTES } from '../../lib/limits.ts';
import { keyProblem, STATE_PREFIX } from '../../rules/disk-name.ts';

/** A task's id; the key is `state/` plus the id. */
export const taskId = z
  .string()
  .max(KV_KEY_MAX_BYTES, { abort: true })
  .superRefine((text, context) => {
    const message = text === '' ? 'Must not be empty.' : keyProblem(STATE_PREFIX + text);
    if (message !== null) context.issues.push({ code: 'custom', input: text, message });
  })
  .describe('The task; up to 512 bytes including the prefix `state/`.');

export function stateKey(id: string): string {
  return STATE_PREFIX + id;
}
