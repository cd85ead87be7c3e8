import type { LedgerHead } from '../../../daemon/ledger-heads.ts';
import { askAcceptLedger, askStatus } from '../../../daemon/probe.ts';
import { forgetWitness } from '../../../daemon/replica-paths.ts';
import { nounFor } from '../../../shared/lib/pluralize.ts';
import { parseApiKey } from '../../../shared/lib/ids.ts';
import type { Answer } from '../../call/answers.ts';
import type { Additions, CommandContext } from '../../command.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit.ts';
import { switchOption, textOption } from '../../input/option-values.ts';
import {
  acceptHead,
  compareWithRemembered,
  ledgerAlarm,
  rememberedHead,
  rememberHead,
  type HistoryCheck,
} from '../../ledger-heads.ts';
import { callOperation } from '../../call/operation-command.ts';
import type { OperationShape } from '../../call/operation-shape.ts';
import type { View } from '../../view/output.ts';
import { countText } from '../../view/sizes.ts';
import { brokenFile } from '../../story/export.ts';
import { readLedgerFile } from '../../story/ledger-file.ts';
import { age, type Look } from '../../view/table.ts';
import { safeLine } from '../../view/terminal-text.ts';

export const declaration: Additions = {
  description:
    'Reports the first bad entry. Also compares the ledger with the newest entry this machine has seen, which reveals one that was cut off or rewritten. Exit code 1: something is wrong.',
  moreOptions: [
    {
      flag: 'accept',
      summary: 'Trust the current history from now on, if its chain is intact',
    },
    {
      flag: 'file',
      value: 'FILE',
      summary: 'Check a file of svc ledger export or svc story --out instead, without a server',
    },
    { flag: 'head', value: 'HASH', summary: 'With --file: an entry with this hash must be in it' },
  ],
  moreExamples: ['ledger verify --accept', 'ledger verify --file ledger.ndjson'],
};

type Shape = OperationShape<'ledger_verify'>;
type Verdict = Answer<'ledger_verify'>;

/** `svc ledger verify`: also compares the ledger with the head this machine saw last. */
export function run(context: CommandContext, shape: Shape): Promise<number> {
  const file = textOption(context, 'file');
  if (file !== undefined) return verifyFile(context, file);
  if (textOption(context, 'head') !== undefined) throw usageError('--head needs --file.');
  return switchOption(context, 'accept') ? accept(shape, context) : verify(shape, context);
}

/** Checks every byte of an exported ledger, and that it contains the entries this machine has seen. */
async function verifyFile(context: CommandContext, path: string): Promise<number> {
  if (switchOption(context, 'accept')) throw usageError('--accept and --file exclude each other.');
  const expectedHash = textOption(context, 'head');
  const { ledgerHeadsFile } = context.home;
  const remembered = (project: string) => rememberedHead(ledgerHeadsFile, project);
  const read = await readLedgerFile(path, { remembered, expectedHash });
  if (!read.ok) throw brokenFile(path, read.fault);
  const { project, head, hasExpected } = read.file;
  const answer = { ok: hasExpected !== false, project, checked: head?.seq ?? 0, head };
  context.output.answer(answer);
  if (hasExpected !== false) return EXIT.done;
  context.output.note(
    `No entry has the hash ${String(expectedHash)}: the file was cut off or rewritten.`,
  );
  return EXIT.refused;
}

async function verify(shape: Shape, context: CommandContext): Promise<number> {
  const { home, output } = context;
  const answer = await callOperation(shape, context);
  const project = parseApiKey(context.client().apiKey)?.projectId;
  if (project === undefined) {
    output.answer(answer, verdictView(answer, null));
    return answer.ok ? EXIT.done : EXIT.refused;
  }
  const file = home.ledgerHeadsFile;
  const { head } = answer;
  const before = rememberedHead(file, project);
  const history = await compareWithRemembered(context.client(), before, head);
  output.answer({ ...answer, witness: history }, verdictView(answer, history));
  if (!history.ok) throw ledgerAlarm(history);
  if (!answer.ok) {
    // The view for a person already says it.
    if (output.json) output.note(`THE LEDGER IS BROKEN at seq ${answer.first_bad_seq}.`);
    return EXIT.refused;
  }
  if (head && reachesFromRemembered(answer, history)) rememberHead(file, project, head);
  return EXIT.done;
}

/** If the chain is intact, makes the current history the trusted one for this machine and its replica. */
async function accept(shape: Shape, context: CommandContext): Promise<number> {
  const { home, output, options } = context;
  if (shape.fields.some(({ name }) => options[name.replaceAll('_', '-')] !== undefined)) {
    throw usageError('--accept covers the whole ledger: leave out --from-seq and --to-seq.');
  }
  const answer = await callOperation(shape, context);
  const project = parseApiKey(context.client().apiKey)?.projectId;
  if (project === undefined || !answer.ok) {
    output.answer(answer, verdictView(answer, null));
    output.note("Not accepted: this ledger's chain is broken.");
    return EXIT.refused;
  }
  const now = answer.head;
  const before = rememberedHead(home.ledgerHeadsFile, project);
  await acceptInReplica(context, project);
  acceptHead(home.ledgerHeadsFile, project, now);
  const accepted = { before, now };
  output.answer({ ...answer, accepted }, acceptedView(answer, accepted));
  return EXIT.done;
}

/** A running daemon holds the trusted history in memory; otherwise its file is all there is. */
async function acceptInReplica({ home }: CommandContext, project: string): Promise<void> {
  const status = await askStatus(home.socketPath);
  if (status?.project !== project || status.mode !== 'replica') {
    forgetWitness(home, project);
    return;
  }
  if (await askAcceptLedger(home.socketPath)) return;
  throw new CliError({
    code: 'NOT_ACCEPTED',
    message: "The daemon can't accept the ledger right now. Nothing changed.",
    hint: 'Stop it and try again: svc down && svc ledger verify --accept && svc up',
    exit: EXIT.refused,
  });
}

/** Whether the verified range connects the remembered entry to the head without a gap. */
function reachesFromRemembered(
  { head, from_seq: from, to_seq: to }: Verdict,
  history: HistoryCheck,
): boolean {
  return to >= (head?.seq ?? 0) && from <= (history.remembered?.seq ?? 0) + 1;
}

const HASH_CHARS = 12;

/** The result of `ledger verify`: everything fits, or where it broke. */
function verdictView(answer: Verdict, history: HistoryCheck | null): View {
  return { lines: (look) => verdictLines(answer, history, look) };
}

/** The result, and which ledger head replaced which. */
function acceptedView(
  answer: Verdict,
  { before, now }: { readonly before: LedgerHead | null; readonly now: LedgerHead | null },
): View {
  const text = `Accepted. This machine remembered ${endText(before)}; now it remembers ${endText(now)}.`;
  return { lines: (look) => [...verdictLines(answer, null, look), safeLine(text)] };
}

function endText(head: LedgerHead | null): string {
  return head ? `${place(head.seq)} ${head.hash.slice(0, HASH_CHARS)}…` : 'nothing';
}

function verdictLines(answer: Verdict, history: HistoryCheck | null, look: Look): string[] {
  if (!answer.ok) {
    const why = (answer.reason ?? 'does not fit').replaceAll('_', ' ');
    return [`${look.bold('BROKEN')} at ${place(answer.first_bad_seq)}: ${safeLine(why)}`];
  }
  // The entries fit together, but "OK" would contradict the alarm that follows.
  const word = history?.ok === false ? history.reason.toUpperCase() : 'OK';
  const more: string[] = [];
  if (!answer.anchored) more.push(`Entries before ${place(answer.from_seq)} weren't checked.`);
  if (history?.ok === true && history.remembered) {
    const { seq, at } = history.remembered;
    more.push(`${place(seq)}, which this machine saw on ${at}, is unchanged.`);
  }
  return [
    `${look.bold(word)}  ${checkedText(answer)}, ${headText(answer.head, look.now)}`,
    ...more.map((line) => look.faint(safeLine(line))),
  ];
}

/** `1,234 entries verified`, with the range unless it's the whole ledger. */
function checkedText({ checked, from_seq, to_seq, head }: Verdict): string {
  const text = `${countText(checked)} ${nounFor(checked, 'entry', 'entries')} verified`;
  const whole = from_seq === 1 && (head === null || to_seq === head.seq);
  return whole ? text : `${text} (${place(from_seq)} to ${place(to_seq)})`;
}

function headText(head: LedgerHead | null, now: number): string {
  if (head === null) return 'the ledger is empty';
  const { seq, hash, at } = head;
  return safeLine(`head #${seq} ${hash.slice(0, HASH_CHARS)}… (${at}, ${age(at, now)})`);
}

function place(seq: number | null): string {
  return `#${seq ?? '?'}`;
}
