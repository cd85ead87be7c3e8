import { CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import type { View } from '../view/output.ts';
import { wholeTable } from './columns.ts';
import { sizeText } from '../view/sizes.ts';
import type { Item, Plan } from './sync-plan.ts';
import { pluralize } from '../../shared/lib/pluralize.ts';

/** What a sync did or would do. */
export interface Report {
  readonly sent: number;
  readonly received: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly skipped: number;
  /** The size of the transferred files. */
  readonly bytes: number;
  readonly dry_run: boolean;
  readonly items: readonly Item[];
}

/** How many failures the error names. */
const NAMED_MAX = 20;

export function reportOf({ items, unchanged }: Plan, dryRun: boolean): Report {
  const told = dryRun ? 'planned' : 'done';
  const done = items.filter(({ outcome }) => outcome === told);
  const count = (wanted: Item['action']) => done.filter(({ action }) => action === wanted).length;
  return {
    sent: count('send'),
    received: count('receive'),
    deleted: count('delete'),
    unchanged,
    failed: items.filter(({ outcome }) => outcome === 'failed').length,
    skipped: items.filter(({ outcome }) => outcome === 'skipped').length,
    bytes: transferBytes(done),
    dry_run: dryRun,
    items,
  };
}

/** How many bytes these items transfer. */
export function transferBytes(items: readonly Item[]): number {
  return items
    .filter(({ action }) => action === 'send' || action === 'receive')
    .reduce((sum, { size_bytes: bytes }) => sum + (bytes ?? 0), 0);
}

/** For a terminal: the changes and the totals. */
export function reportView(report: Report): View {
  // Skipped files were already printed.
  const shown = report.items.filter(({ outcome }) => outcome !== 'skipped');
  const rows = shown.map((item) => [
    wordOf(item),
    item.size_bytes === null ? '–' : sizeText(item.size_bytes),
    item.error === null && item.reason !== 'gone' ? `${item.file}  (${item.reason})` : item.file,
    item.error ?? '',
  ]);
  const heads = [
    { head: '' },
    { head: 'SIZE', right: true as const, spare: true as const },
    { head: 'FILE' },
  ];
  const problem = { head: 'PROBLEM', prose: true as const };
  const columns = [...heads, ...(rows.some((row) => row[3] !== '') ? [problem] : [])];
  return {
    lines: (look) => [
      ...(rows.length === 0 ? [] : [...wholeTable(columns, rows, look), '']),
      sumLine(report),
    ],
  };
}

function wordOf({ action, outcome }: Item): string {
  if (outcome === 'failed') return 'failed';
  if (outcome === 'open') return 'not tried';
  if (outcome === 'planned') return action;
  return { send: 'sent', receive: 'received', delete: 'deleted', skip: 'skipped' }[action];
}

function sumLine(report: Report): string {
  const { sent, received, deleted, unchanged, failed, bytes, dry_run: isPlan, items } = report;
  const open = items.filter(({ outcome }) => outcome === 'open').length;
  const parts = [
    [sent, isPlan ? 'to send' : 'sent'],
    [received, isPlan ? 'to receive' : 'received'],
    [deleted, isPlan ? 'to delete' : 'deleted'],
    [unchanged, 'the same'],
    [failed, 'failed'],
    [open, 'not tried'],
  ] as const;
  const told = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const sum = told.join(', ') || 'Nothing on either side';
  return bytes > 0 ? `${sum}; ${sizeText(bytes)}` : sum;
}

/** The error for a sync with failed files, or null. `cut` is the error that stopped everything. */
export function failureOf(
  report: Report,
  cut: CliError | null,
  tellsWhich: boolean,
): CliError | null {
  const { items, failed, unchanged, dry_run: isPlan } = report;
  if (failed === 0) return null;
  const bad = items.filter(({ outcome }) => outcome === 'failed');
  const named = bad.slice(0, NAMED_MAX).map(({ file, error }) => [file, error ?? ''] as const);
  const more =
    tellsWhich && failed > NAMED_MAX ? `, the first ${NAMED_MAX} of them named here` : '';
  return new CliError({
    code: 'SYNC_INCOMPLETE',
    message: `${failed} of ${pluralize(items.length + unchanged, 'file')} ${isPlan ? 'would fail' : 'failed'}${more}.`,
    hint: 'The other files still synced. Fix the problem, then run the same command again.',
    exit: cut?.exit ?? EXIT.refused,
    ...(tellsWhich && { details: Object.fromEntries(named) }),
  });
}
