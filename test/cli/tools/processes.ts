import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process, with what it wrote to its standard error so far, and all it wrote once it has ended. */
export function start(
  program: string,
  args: readonly string[],
  { env, input }: { readonly env: NodeJS.ProcessEnv; readonly input?: string },
) {
  const child = spawn(program, args, { env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
  });
  if (input !== undefined) child.stdin.end(input);
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, out, err }));
  return { child, ended, said: () => err };
}
