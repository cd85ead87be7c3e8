import type { PolicyRisk, PolicyTool } from './document.ts';

export type SubjectTool = 'ask_approval' | PolicyTool;

/**
 * A call to decide on. Only ask_approval has an action and an amount, and only email_send has recipients. We ignore
 * these fields for other tools, and a condition on a missing field never holds.
 */
export interface PolicySubject {
  readonly tool: SubjectTool;
  readonly action: string | null;
  /** As the agent states it. */
  readonly amount: number | null;
  /** The values that the approval binds, read by `parseExact`; undefined if it binds none. */
  readonly bind?: unknown;
  readonly risk: PolicyRisk | null;
  /** The domain of each recipient, in any case, with or without repeats; an empty list counts as missing. */
  readonly recipientDomains: readonly string[] | null;
}
