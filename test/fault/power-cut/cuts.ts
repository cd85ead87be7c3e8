import type { Luck } from './image.ts';
import type { Random } from './random.ts';
import { firstOfDaemon, type Cut } from './recording.ts';
import type { LogRecord } from './shim.ts';

/** Changes of names and lengths, and syncs: a cut there finds the most. */
const TURNING_POINTS = 'CDRLUTBS';
const LUCKS = ['nothing', 'nothing', 'mixed', 'mixed', 'mixed', 'everything'] as const;

/** Half of the cuts are anywhere, the others next to a sync or a change of names. */
export function someCuts(records: readonly LogRecord[], count: number, random: Random): Cut[] {
  const turns = records.flatMap(({ op }, index) => (TURNING_POINTS.includes(op) ? [index] : []));
  return Array.from({ length: count }, () => {
    const turn = (turns[random.below(turns.length)] ?? 0) + random.below(2);
    const at = random.chance(0.5) ? random.below(records.length + 1) : turn;
    return { at, luck: random.of<Luck>(LUCKS) };
  });
}

/** Before each `stride`-th thing that the daemon does, from one of the first on, and after the last. */
export function cutsAtEach(
  records: readonly LogRecord[],
  luck: Luck,
  { stride, random }: { stride: number; random: Random },
): Cut[] {
  const cuts: Cut[] = [];
  const first = firstOfDaemon(records) + random.below(stride);
  for (let at = first; at < records.length; at += stride) cuts.push({ at, luck });
  return [...cuts, { at: records.length, luck }];
}
