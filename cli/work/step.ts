import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';

/** No more of a step's output is kept. */
const STEP_OUTPUT_MAX_BYTES = 64 * 1024;

/** How a step ended. */
export interface StepResult {
  readonly code: number;
  /** The beginning of standard output. */
  readonly output: Buffer;
  /** Whether that is all of it. */
  readonly isWhole: boolean;
}

/** Runs a command with our standard input and standard error. It runs to its end, however much it prints. */
export async function runStep(
  [program = '', ...args]: readonly string[],
  { env, signal }: Pick<CommandContext, 'env' | 'signal'>,
): Promise<StepResult> {
  const child = spawn(program, args, { env, stdio: ['inherit', 'pipe', 'inherit'] });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk.subarray(0, Math.max(0, STEP_OUTPUT_MAX_BYTES - bytes)));
    bytes += chunk.length;
  });
  // Ctrl-C reaches the command by itself, a SIGTERM to us does not.
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  try {
    const [code, by] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    const output = Buffer.concat(chunks);
    const isWhole = bytes <= STEP_OUTPUT_MAX_BYTES;
    return { code: code ?? 128 + (by === null ? 0 : constants.signals[by]), output, isWhole };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw usageError(`svc can't run "${program}" (${reason}).`, 'Shell syntax needs: sh -c "…"');
  } finally {
    signal.removeEventListener('abort', end);
  }
}
