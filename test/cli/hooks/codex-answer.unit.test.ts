import { expect, it } from 'vitest';
import * as z from 'zod';
import { HOOK_CLIENTS } from '../../../cli/hooks/clients.ts';
import type { Verdict } from '../../../cli/hooks/tool-call.ts';

/**
 * What Codex reads from a PermissionRequest hook, by `permission-request.command.output` in its source: it refuses
 * members that it doesn't know, and treats a hook that interrupts or changes anything as broken.
 */
const answer = z.strictObject({
  continue: z.boolean().optional(),
  stopReason: z.string().optional(),
  suppressOutput: z.boolean().optional(),
  systemMessage: z.string().optional(),
  hookSpecificOutput: z
    .strictObject({
      hookEventName: z.literal('PermissionRequest'),
      decision: z
        .strictObject({
          behavior: z.enum(['allow', 'deny']),
          message: z.string().optional(),
          interrupt: z.literal(false).optional(),
        })
        .optional(),
    })
    .optional(),
});

const VERDICTS: readonly Verdict[] = [
  { kind: 'allow' },
  { kind: 'deny', message: 'A person denied this.', isStop: false },
  { kind: 'deny', message: 'A person stopped this session.', isStop: true },
  { kind: 'undecided', note: 'The daemon is not running.' },
];

it.each(VERDICTS)('Codex reads %j', (verdict) => {
  expect(answer.safeParse(HOOK_CLIENTS.codex.answer(verdict)).error).toBeUndefined();
});

it('Codex gets nothing, and shows its prompt, where there is nothing to say', () => {
  expect(HOOK_CLIENTS.codex.answer({ kind: 'undecided', note: null })).toBeNull();
});

it('Claude Code is interrupted by a stop, and by no other denial', () => {
  const [, denial, stop] = VERDICTS.map((verdict) => HOOK_CLIENTS['claude-code'].answer(verdict));
  expect(denial).not.toHaveProperty('hookSpecificOutput.decision.interrupt');
  expect(stop).toMatchObject({ hookSpecificOutput: { decision: { interrupt: true } } });
});
