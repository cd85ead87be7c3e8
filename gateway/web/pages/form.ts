import { COMMENT_MAX_CHARS } from '../../../shared/rules/requests/request-state.ts';
import type { Choice, DecisionOutcome } from '../../approvals/approvals.ts';

export const FORM_MAX_BYTES = 16 * 1024;
/** How much a person can write, in the units that browsers count; it fits into a form in any script. */
export const WRITTEN_MAX_CHARS = { comment: COMMENT_MAX_CHARS, text: 1500 } as const;

const FIELDS = ['verb', 'index', 'comment', 'text', 'confirm', 'code', 'csrf'] as const;

/** The fields of our forms as sent; empty fields are missing. */
export type Form = Readonly<Partial<Record<(typeof FIELDS)[number], string>>>;

/** A choice, or one sentence that explains why there is none. */
export type ReadChoice =
  | { readonly choice: Choice }
  | { readonly choice: null; readonly problem: string };

/** What the address of the next page says of a choice. */
export function afterChoice(outcome: DecisionOutcome['outcome'], { verb }: Choice): string {
  if (outcome === 'counted') return '?recorded=1';
  return outcome === 'late' ? `?late=${verb}` : '';
}

/** Null if none of our forms could send it: a repeated field would have different meanings in different places. */
export function readForm(body: string): Form | null {
  const sent = new URLSearchParams(body);
  const form: Partial<Record<(typeof FIELDS)[number], string>> = {};
  for (const field of FIELDS) {
    const values = sent.getAll(field);
    if (values.length > 1) return null;
    const value = values[0]?.replaceAll(/\r\n?/g, '\n').trim();
    if (value !== undefined && value !== '') form[field] = value;
  }
  return form;
}

/** Whether a form mutes the key of its request or ends that; null where it decides something. */
export function readMute({ verb }: Form): boolean | null {
  return verb === 'mute' || verb === 'unmute' ? verb === 'mute' : null;
}

/** Whether a form ends what an answer holds for others. */
export function endsLasting({ verb }: Form): boolean {
  return verb === 'end_lasting';
}

/** The choice in a form. A button can send only one field, so an index without a verb means an option. */
export function readChoice(form: Form): ReadChoice {
  const { index } = form;
  const verb = form.verb ?? (index === undefined ? 'none' : 'option');
  if (index !== undefined && verb !== 'option') return problem('Two buttons at once.');
  for (const field of ['comment', 'text'] as const) {
    const most = WRITTEN_MAX_CHARS[field];
    if ((form[field]?.length ?? 0) > most) return problem(`Please use at most ${most} characters.`);
  }
  return READERS.get(verb)?.(form) ?? problem('No button was pressed.');
}

const READERS = new Map<string, (form: Form) => ReadChoice>([
  ['approve', ({ comment }) => ({ choice: { verb: 'approve', ...said(comment) } })],
  ['approve_hour', ({ comment }) => lasting('approve', comment)],
  [
    'approve_propose',
    ({ comment }) => ({ choice: { verb: 'approve', proposes: true, ...said(comment) } }),
  ],
  ['deny', ({ comment }) => ({ choice: { verb: 'deny', ...said(comment) } })],
  ['stop', ({ comment }) => lasting('deny', comment)],
  ['option', readOption],
  ['answer', readAnswer],
  ['needs_context', readNeed],
]);

function lasting(verb: 'approve' | 'deny', comment: string | undefined): ReadChoice {
  return { choice: { verb, lasts: true, ...said(comment) } };
}

function readOption({ index = '', comment }: Form): ReadChoice {
  if (!/^\d$/.test(index)) return problem('There is no such option.');
  return { choice: { verb: 'option', index: Number(index), ...said(comment) } };
}

function readAnswer({ text }: Form): ReadChoice {
  if (text === undefined) return problem('Please write an answer first.');
  return { choice: { verb: 'answer', text } };
}

function readNeed({ comment }: Form): ReadChoice {
  if (comment === undefined) return problem('Please say what is missing.');
  return { choice: { verb: 'needs_context', comment } };
}

function said(comment: string | undefined): { readonly comment?: string } {
  return comment === undefined ? {} : { comment };
}

function problem(sentence: string): ReadChoice {
  return { choice: null, problem: sentence };
}
