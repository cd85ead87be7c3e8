import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { invalid } from '../../lib/errors.ts';
import { mayCall, type Scope } from '../../lib/scopes.ts';
import { inboxNext } from '../../operations/inbox/next.ts';
import { inboxWait } from '../../operations/inbox/wait.ts';
import { answerOf, OperationTool } from './call.ts';
import { asWait } from './call-task.ts';
import { fittingAnswer } from './fit.ts';
import type { CallableTool, CallSite, Outlook, WaitsFor } from './tables.ts';
import { callTaskId } from './task-id.ts';

type Fields = Record<string, unknown>;

/** The arguments for a key that may claim. */
const WITH_CLAIM = inboxWait.input.extend({
  claim: z.boolean().optional().describe('Take it, with a lease and in full.'),
});

/** The arguments of `inbox_wait` that a key with these scopes may use. */
export function waitInput(scopes: readonly Scope[]): z.ZodObject {
  return mayClaim(scopes) ? WITH_CLAIM : inboxWait.input;
}

export function mayClaim(scopes: readonly Scope[]): boolean {
  return mayCall(scopes, inboxNext.scope);
}

/** `inbox_wait`, which also claims the event if the agent asks for it: `inbox_next` for one event. */
export class WaitTool implements CallableTool {
  readonly #wait = new OperationTool(inboxWait, WITH_CLAIM);

  inputOf(given: Fields): Fields {
    return this.#wait.inputOf(given);
  }

  pace({ claim }: Fields): 'long' | 'wait' {
    return claim === true ? 'long' : 'wait';
  }

  outlook({ claim: _claim, ...input }: Fields): Outlook {
    return this.#wait.outlook(input);
  }

  /** A wait that claims goes on until an event comes, however long the agent meant to wait. */
  async start(input: Fields, site: CallSite): Promise<CallToolResult | WaitsFor> {
    const { claim, timeout_seconds: _seconds, ...wanted } = input;
    const isValid =
      WITH_CLAIM.safeParse(input).success && inboxNext.input.safeParse(wanted).success;
    if (claim !== true || !isValid || !mayClaim(site.caller.scopes)) return this.run(input, site);
    return { waitsFor: callTaskId(inboxWait.name, wanted, site), lookMs: 1_000 };
  }

  run({ claim, ...input }: Fields, site: CallSite): Promise<CallToolResult> {
    return answerOf(inboxWait, site, async () => {
      const { executor, caller, signal } = site;
      if (claim === undefined || claim === false) {
        return fittingAnswer(inboxWait, input, (one) =>
          executor.execute(inboxWait, one, caller, signal),
        );
      }
      if (claim !== true) throw invalid({ path: 'claim', message: 'Expected true or false.' });
      const answer = await executor.execute(inboxNext, input, caller, signal);
      return { ...answer, value: asWait(answer.value) };
    });
  }
}
