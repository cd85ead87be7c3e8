import { nearest } from '../../../shared/lib/suggest.ts';
import { SvcError } from '../core/errors.ts';

/** Throws if a filter has a key of another name: a worker would get every event. */
export function refuseUnknown(filter: object, known: readonly string[]): void {
  const unknown = Object.keys(filter).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  throw new SvcError({
    code: 'USAGE',
    message: `A filter has no \`${unknown}\`.${meant === null ? '' : ` Did you mean \`${meant}\`?`}`,
    hint: `It has ${known.join(', ')}.`,
  });
}
