import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { age, type Look } from '../view/table.ts';
import { hangingNote, safeLine, safeText, wrapText } from '../view/terminal-text.ts';
import { typedNames } from '../view/typed-names.ts';
import {
  decisionMark,
  decisionSentence,
  withdrawalOf,
  type RequestState,
  type Names,
  endingOf,
} from './decision.ts';

interface AnswerDetails {
  /** What an approval means, in a sentence. */
  readonly approved: string | undefined;
  readonly names: Names;
  /** What to type next; null when there is nothing more to do. */
  readonly next: string | null;
  /** The event that waits for the answer, or null. */
  readonly parked: string | null;
}

const WIDEST_TEXT = 96;

/** A person's decision, as a terminal shows it. */
export function answerView(answer: RequestState, told: AnswerDetails): View {
  // No status: an operation that ran at once, such as a new link.
  if (answer.status === undefined) return {};
  return { lines: (look) => answerLines(answer, told, look) };
}

function answerLines(
  answer: RequestState,
  { approved, names, next, parked }: AnswerDetails,
  look: Look,
): string[] {
  const { status, hint, request_id: id, expires_at: expires } = answer;
  const mark = decisionMark(answer, look);
  if (status === 'pending') {
    const ends = expires === undefined ? '' : ` The request expires ${age(expires, look.now)}.`;
    const pairs: Pair[] = [['Request', id ?? '–']];
    const sentence = parked === null ? decisionSentence(answer, names) : parkedText(parked);
    const lines = wrapText(`${sentence}${ends}`, Math.min(look.columns, WIDEST_TEXT) - 2);
    return [
      ...lines.map((line, at) => `${at === 0 ? mark : ' '} ${line}`),
      ...pairLines(next === null ? pairs : [...pairs, ['Next', look.typed(next)]], look, '  '),
    ];
  }
  return [
    ...sentenceLines(answer, names, mark, look),
    ...(approved !== undefined && status === 'approved' ? [`  ${approved}`] : []),
    ...(withdrawalOf(answer) === null ? hintLines(endingOf(answer) ?? hint, look) : []),
    look.faint(`  ${safeLine(id ?? '')}`),
  ];
}

/** Says that the question's event is parked. */
export function parkedText(event: string): string {
  return `Parked: ${safeLine(event)} waits for a person.`;
}

/** The sentence. If the answer has several lines, they follow it unchanged. */
function sentenceLines(
  answer: RequestState,
  names: Names,
  mark: string,
  { columns }: Look,
): string[] {
  const { status, decision } = answer;
  if (status !== 'answered' || !decision?.includes('\n')) {
    return hangingNote(`${mark} `, decisionSentence(answer, names), columns, 2);
  }
  const head = decisionSentence({ ...answer, decision: null }, names).replace(/\.$/, ':');
  return [`${mark} ${head}`, ...indented(decision)];
}

/** Several lines of text, unchanged but safe for a terminal. */
export function indented(text: string): string[] {
  return safeText(text)
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}

function hintLines(hint: string | null | undefined, { columns }: Look): string[] {
  if (!hint) return [];
  return wrapText(safeLine(typedNames(hint)), Math.min(columns, WIDEST_TEXT) - 2).map(
    (line) => `  ${line}`,
  );
}
