import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { CommandContext } from '../command.ts';
import { usageError } from '../errors.ts';

/** How much of a step's output svc keeps. */
const STEP_OUTPUT_MAX_BYTES = 64 * 1024;

/** How a step ended. */
export interface StepResult {
  readonly code: number;
  /** The start of standard output. */
  readonly output: Buffer;
  /** Whether `output` is complete. */
  readonly isWhole: boolean;
}

/** Runs a command with svc's own standard input and standard error, to its end however much it prints. */
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
  // Ctrl-C reaches the command too; a SIGTERM sent to svc doesn't.
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
