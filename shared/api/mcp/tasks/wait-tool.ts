import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { invalid } from '../../../lib/errors.ts';
import { isObject } from '../../../lib/guards.ts';
import { mayCall, type Scope } from '../../../lib/scopes.ts';
import { inboxList } from '../../../operations/inbox/list.ts';
import { inboxNext } from '../../../operations/inbox/next.ts';
import { inboxWait, NO_EVENT } from '../../../operations/inbox/wait.ts';
import { answerOf, OperationTool } from '../call.ts';
import { asWait } from './call-task.ts';
import { fittingAnswer } from '../fit.ts';
import type { CallableTool, CallSite, Outlook, WaitsFor } from '../tables.ts';
import { callTaskId } from './task-id.ts';

type Fields = Record<string, unknown>;

/** How long to look first whether an event is there already. */
const LOOK_SECONDS = 1;

/** The arguments for a key that may not claim. */
const WITHOUT_CLAIM = inboxWait.input.omit({ arrived_after: true });
/** The arguments for a key that may. */
const WITH_CLAIM = WITHOUT_CLAIM.extend({
  claim: z.boolean().optional().describe('Take it, with a lease and in full.'),
});

/** The arguments of `inbox_wait` that a key with these scopes may use. */
export function waitInput(scopes: readonly Scope[]): z.ZodObject {
  return mayClaim(scopes) ? WITH_CLAIM : WITHOUT_CLAIM;
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

  /** It goes on until an event comes, however long the agent meant to wait. */
  async start(input: Fields, site: CallSite): Promise<CallToolResult | WaitsFor> {
    const { claim = false, timeout_seconds: _seconds, ...wanted } = input;
    if (!WITH_CLAIM.safeParse(input).success) return this.run(input, site);
    if (claim === false) return this.#startReading(input, wanted, site);
    const mayGoOn = inboxNext.input.safeParse(wanted).success && mayClaim(site.caller.scopes);
    if (!mayGoOn) return this.run(input, site);
    return { waitsFor: callTaskId(inboxNext.name, wanted, site), lookMs: LOOK_SECONDS * 1_000 };
  }

  /** Its id says after which event it began, so that each reading finds the same one. */
  async #startReading(
    input: Fields,
    wanted: Fields,
    site: CallSite,
  ): Promise<CallToolResult | WaitsFor> {
    let newest: string;
    try {
      newest = await newestEvent(site);
    } catch {
      return this.run(input, site);
    }
    const result = await this.run({ ...input, timeout_seconds: LOOK_SECONDS }, site);
    const { structuredContent: found } = result;
    // What's wrong with the filter stands in the answer only.
    if (!isObject(found) || found['event'] !== null || found['warnings']) return result;
    const open = { ...wanted, arrived_after: newest };
    return { waitsFor: callTaskId(inboxWait.name, open, site) };
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

async function newestEvent({ executor, caller, signal }: CallSite): Promise<string> {
  const filter = { status: 'all', newest: true, brief: true, limit: 1 };
  const { value } = await executor.execute(inboxList, filter, caller, signal);
  const [newest]: unknown[] =
    isObject(value) && Array.isArray(value['items']) ? value['items'] : [];
  return isObject(newest) ? String(newest['id']) : NO_EVENT;
}
