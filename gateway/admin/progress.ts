import { pluralize } from '../../shared/lib/pluralize.ts';

/** How often a line is written at most; the last one is always written. */
const EVERY_MS = 1000;

/**
 * Shows progress: rewrites its line on a terminal and writes few lines elsewhere. `blobs`: the number copied so far, if a
 * unit may take long.
 */
export function progressOn(
  stream: NodeJS.WriteStream,
  what: string,
  unit: 'project' | 'blob' | 'row' = 'project',
): (done: number, total: number, blobs?: number) => void {
  let toldAt = Number.NEGATIVE_INFINITY;
  return (done, total, blobs = 0) => {
    const now = performance.now();
    if (done < total && now - toldAt < EVERY_MS) return;
    toldAt = now;
    const files = blobs > 0 ? `, ${pluralize(blobs, 'blob')}` : '';
    const text = `${what}: ${done} of ${pluralize(total, unit)}${files}`;
    if (!stream.isTTY) stream.write(`${text}\n`);
    else stream.write(`\r${text}${done === total ? '\n' : ''}`);
  };
}
