import type { OperationCall } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { age, type Look } from '../view/table.ts';
import { plainText, safeLine, safeText, wrapText } from '../view/terminal-text.ts';
import { typedNames } from '../view/typed-names.ts';
import { decisionMark, decisionSentence, type Asked, type Names } from './decision.ts';

interface Told {
  readonly operation: string;
  readonly names: Names;
  /** What to type next; null when there is nothing more to do. */
  readonly next: string | null;
}

const WIDEST_TEXT = 96;

/** What a person decided, for whoever asked on a terminal. */
export function answerView(answer: Asked, told: Told): View {
  // A link, or whatever else was made at once.
  if (typeof answer['status'] !== 'string') return {};
  return { lines: (look) => answerLines(answer, told, look) };
}

function answerLines(answer: Asked, { operation, names, next }: Told, look: Look): string[] {
  const { status, hint, request_id: id, expires_at: expires } = answer;
  const mark = decisionMark(answer, look);
  if (status === 'pending') {
    const ends = typeof expires === 'string' ? ` It expires ${age(expires, look.now)}.` : '';
    const pairs: Pair[] = [['Request', plainText(id)]];
    return [
      `${mark} ${decisionSentence(answer, names)}${ends}`,
      ...pairLines(next === null ? pairs : [...pairs, ['Next', next]], look, '  '),
    ];
  }
  const applies = operation === 'policy_set' && status === 'approved';
  return [
    ...sentenceLines(answer, names, mark),
    ...(applies ? ['  The policy holds from now on. See it with: svc policy get'] : []),
    ...hintLines(hint, look),
    look.faint(`  ${safeLine(plainText(id))}`),
  ];
}

/** The sentence; an answer of several lines stands below it as it was written. */
function sentenceLines(answer: Asked, names: Names, mark: string): string[] {
  const { status, decision } = answer;
  if (status !== 'answered' || typeof decision !== 'string' || !decision.includes('\n')) {
    return [`${mark} ${decisionSentence(answer, names)}`];
  }
  const head = decisionSentence({ ...answer, decision: null }, names).replace(/\.$/, ':');
  return [`${mark} ${head}`, ...indented(decision)];
}

/** Text of several lines as it was written, safe for a terminal. */
export function indented(text: string): string[] {
  return safeText(text)
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}

function hintLines(hint: unknown, { columns }: Look): string[] {
  if (typeof hint !== 'string') return [];
  return wrapText(safeLine(typedNames(hint)), Math.min(columns, WIDEST_TEXT) - 2).map(
    (line) => `  ${line}`,
  );
}

/** The command that picks up a request which is still pending; null for one that is decided. */
export function nextCommand(
  { name, fields }: OperationShape,
  { input }: Pick<OperationCall, 'input'>,
  { status, request_id: id }: Asked,
): string | null {
  if (status !== 'pending' || typeof id !== 'string') return null;
  if (name !== 'file_url') return `svc request watch ${id}`;
  const standard = fields.find((field) => field.name === 'expires_in')?.default;
  const expires = input['expires_in'] ?? standard;
  const times = expires === standard ? '' : ` --expires-in ${plainText(expires)}`;
  return `svc file url ${shellWord(plainText(input['path']))}${times} --approval ${id}`;
}

/** Quoted where a shell would read something into it. */
function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
