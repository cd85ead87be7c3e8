import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';
import { typedSpanMs } from '../input/times.ts';
import { IDEMPOTENCY_KEY_MAX_CHARS } from '../../shared/lib/limits.ts';
import { Tries, type RetryDeps } from './tries.ts';

type WriteCommand = Pick<CommandContext, 'options'>;

/** The server forgets a key after a day. */
const LONGEST_MS = 24 * 3_600_000;

/** The tries that a write's flags ask for. */
export function triesOf(
  { options }: WriteCommand,
  deps: Omit<RetryDeps, 'key' | 'retryMs'>,
): Tries {
  const { 'idempotency-key': key, 'retry-for': time } = options;
  return new Tries({
    ...deps,
    key: typeof key === 'string' ? checkedKey(key) : undefined,
    retryMs: typeof time === 'string' ? millisecondsOf(time) : 0,
  });
}

function checkedKey(key: string): string {
  if (/^[\x20-\x7e]+$/.test(key) && key.length <= IDEMPOTENCY_KEY_MAX_CHARS) return key;
  throw usageError(
    `--idempotency-key must be 1 to ${IDEMPOTENCY_KEY_MAX_CHARS} printable ASCII characters.`,
    'For example: --idempotency-key nightly-2026-01-02',
  );
}

function millisecondsOf(time: string): number {
  const ms = typedSpanMs(time) ?? 0;
  if (ms > 0 && ms <= LONGEST_MS) return ms;
  throw usageError(`--retry-for can't be "${time}".`, 'Use a time up to 24h: 60s, 5m, 1h30m');
}
