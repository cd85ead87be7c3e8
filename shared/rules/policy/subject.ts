import type { PolicyRisk, PolicyTool } from './document.ts';

export type SubjectTool = 'ask_approval' | PolicyTool;

/**
 * What is to be decided. Only ask_approval has an action and an amount, and only email_send has recipients: given to
 * another tool they count as absent, and a condition on what is absent never holds.
 */
export interface PolicySubject {
  readonly tool: SubjectTool;
  readonly action: string | null;
  /** A finite number; anything else counts as absent. */
  readonly amount: number | null;
  readonly risk: PolicyRisk | null;
  /** One of each recipient, repeats or not, in any case; none at all counts as absent. */
  readonly recipientDomains: readonly string[] | null;
}
