import { isObject } from '../../shared/untyped.ts';
import { isHead, type LedgerHead } from '../../daemon/ledger-heads.ts';
import type { Witness } from '../ledger-heads.ts';
import type { View } from './output.ts';
import { age, type Look } from './table.ts';
import { countText } from './sizes.ts';
import { plainText, safeLine } from './terminal-text.ts';
import { nounFor } from '../../shared/counted.ts';

type Answer = Readonly<Record<string, unknown>>;

const HASH_CHARS = 12;

/** What `ledger verify` found, for a person: that all is well, or where it broke. */
export function verdictView(answer: unknown, witness: Witness | null): View {
  if (!isObject(answer)) return {};
  return { lines: (look) => verdictLines(answer, witness, look) };
}

/** The verdict, and which end of the ledger took the place of which. */
export function acceptedView(
  answer: Answer,
  { before, now }: { readonly before: LedgerHead | null; readonly now: LedgerHead | null },
): View {
  const text = `Accepted: remembered was ${endText(before)}, now it is ${endText(now)}.`;
  return { lines: (look) => [...verdictLines(answer, null, look), safeLine(text)] };
}

function endText(head: LedgerHead | null): string {
  return head ? `${place(head.seq)} ${head.hash.slice(0, HASH_CHARS)}…` : 'nothing';
}

function verdictLines(answer: Answer, witness: Witness | null, look: Look): string[] {
  if (answer['ok'] !== true) {
    const why = plainText(answer['reason'] ?? 'does not fit').replaceAll('_', ' ');
    return [`${look.bold('BROKEN')} at ${place(answer['first_bad_seq'])}: ${safeLine(why)}`];
  }
  // What is there fits, but that must not read as all well beside the alarm that follows.
  const word = witness?.ok === false ? witness.reason.toUpperCase() : 'OK';
  const more: string[] = [];
  if (answer['anchored'] === false) {
    more.push(`What stands before ${place(answer['from_seq'])} was taken as it is.`);
  }
  if (witness?.ok === true && witness.remembered) {
    const { seq, at } = witness.remembered;
    more.push(`${place(seq)}, which this machine remembers from ${at}, is still as it was.`);
  }
  return [
    `${look.bold(word)}  ${checkedText(answer)}, ${headText(answer['head'], look.now)}`,
    ...more.map((line) => look.faint(safeLine(line))),
  ];
}

/** `1,234 entries verified`; a stretch that is not the whole is named. */
function checkedText({ checked, from_seq, to_seq, head }: Answer): string {
  const amount = typeof checked === 'number' ? countText(checked) : '?';
  const text = `${amount} ${nounFor(Number(checked), 'entry', 'entries')} verified`;
  const whole = from_seq === 1 && (!isHead(head) || to_seq === head.seq);
  return whole ? text : `${text} (${place(from_seq)} to ${place(to_seq)})`;
}

function headText(head: unknown, now: number): string {
  if (!isHead(head)) return 'the ledger is empty';
  const { seq, hash, at } = head;
  return safeLine(`head #${seq} ${hash.slice(0, HASH_CHARS)}… (${at}, ${age(at, now)})`);
}

function place(seq: unknown): string {
  return `#${safeLine(plainText(seq))}`;
}
