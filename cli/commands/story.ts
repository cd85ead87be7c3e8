import { isObject } from '../../shared/lib/guards.ts';
import type { LedgerEntry } from '../../shared/rules/ledger-chain.ts';
import type { Additions, CommandContext } from '../command.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textArgument, textOption } from '../input/option-values.ts';
import { rememberedHead } from '../ledger-heads.ts';
import { callOperation } from '../call/operation-command.ts';
import type { OperationShape } from '../call/operation-shape.ts';
import { addLines, brokenFile, exportLedger } from '../story/export.ts';
import { readLedgerFile, type LedgerFile } from '../story/ledger-file.ts';
import { factsOf, stepLines, stepsOf, type Step } from '../story/steps.ts';

export const declaration: Additions = {
  description:
    'The ledger proves every step with a ✓: what a person saw and decided, and what was done. --out saves the ledger and this proof in a file; --file checks that file on any machine, without a server.',
  moreOptions: [
    {
      flag: 'out',
      value: 'FILE',
      summary: 'Save the ledger with the proof of this story, or update the file',
    },
    {
      flag: 'file',
      value: 'FILE',
      summary: 'Tell the story from such a file and verify it, without a server',
    },
  ],
  moreExamples: [
    'story evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --out story.ndjson',
    'story evt_01j9z3k4m5n6p7q8r9s0t1v2w3 --file story.ndjson',
  ],
  seeAlso: ['ledger export', 'ledger verify', 'inbox get'],
};

export async function run(
  context: CommandContext,
  shape: OperationShape<'story'>,
): Promise<number> {
  const file = textOption(context, 'file');
  const out = textOption(context, 'out');
  if (file !== undefined && out !== undefined) throw usageError('Use --file or --out, not both.');
  if (file !== undefined) return fromFile(context, file);
  const answer = await callOperation(shape, context);
  const { event, requests, openings, names } = answer;
  const entries = answer.entries as readonly LedgerEntry[];
  const proven = openings.flatMap(({ seq: opens, salt, value }) =>
    isObject(value) ? [{ opens, salt, value }] : [],
  );
  const eventId = event.id;
  // A file has no names: it shows what anyone who checks it can see.
  const known = out === undefined ? { names } : {};
  const steps = stepsOf({ eventId, event, requests, entries, openings: proven, ...known });
  if (out === undefined) {
    show(context, { ...answer, steps }, steps);
    return EXIT.done;
  }
  const exported = await exportLedger(context, out);
  const read = await readLedgerFile(out, { eventId });
  if (!read.ok) throw brokenFile(out, read.fault);
  const had = new Set(read.file.openings.map(({ opens }) => opens));
  const fresh = proven.filter(({ opens }) => !had.has(opens));
  await addLines(out, fresh);
  show(context, { ...exported, steps }, steps);
  context.output.note(headText(exported.head));
  return EXIT.done;
}

async function fromFile(context: CommandContext, path: string): Promise<number> {
  const eventId = textArgument(context, 'event_id') ?? '';
  const { ledgerHeadsFile } = context.home;
  const remembered = (project: string) => rememberedHead(ledgerHeadsFile, project);
  const read = await readLedgerFile(path, { eventId, remembered });
  if (!read.ok) throw brokenFile(path, read.fault);
  const { file } = read;
  if (file.entries.length === 0) {
    throw new CliError({
      code: 'NOT_FOUND',
      message: `${path} has no entries about ${eventId}.`,
      exit: EXIT.nothing,
    });
  }
  const steps = stepsOf(factsOf(eventId, file));
  show(context, { event_id: eventId, project: file.project, head: file.head, steps }, steps);
  context.output.note(headText(file.head));
  context.output.note(
    'The chain is intact and the marked contents are the recorded ones. Compare the head with one you saved or got from someone else: a forger could have rewritten the whole file.',
  );
  return EXIT.done;
}

function show(context: CommandContext, answer: object, steps: readonly Step[]): void {
  context.output.answer(answer, { lines: (look) => stepLines(steps, look) });
}

function headText(head: LedgerFile['head']): string {
  return head ? `Ledger head: #${head.seq} ${head.hash} (${head.at})` : 'The ledger is empty.';
}
