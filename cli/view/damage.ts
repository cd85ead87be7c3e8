import type { Damage } from '../../shared/store/sums/damage.ts';
import { safeLine } from './terminal-text.ts';

const SHOWN_MAX = 3;

/** What to do about damage in a data folder. */
export function damageAdvice(dataFolder: string): string {
  return `For all of it, and what to do: svc gateway check --data ${dataFolder}`;
}

/** Names the first few damaged objects. */
export function damageText(damage: readonly Damage[]): string {
  const shown = damage.slice(0, SHOWN_MAX).map(({ file, what }) => `${file} (${what})`);
  const more = damage.length - shown.length;
  return safeLine([...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', '));
}
