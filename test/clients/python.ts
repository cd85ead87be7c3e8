import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';

/** The machine's Python with the client installed, as `pip install ./clients/python` does it, without a network. */
export async function pythonWithClient(folder: string): Promise<string> {
  const python = join(folder, 'venv', 'bin', 'python');
  await run('python3', ['-m', 'venv', join(folder, 'venv')]);
  const client = resolve('clients/python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--no-index', client]);
  return python;
}

/** Runs a program; what it printed on both streams. Rejects with that if it fails. */
export function run(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((done, fail) => {
    const all = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env };
    const options = { env: all, maxBuffer: 16 * 1024 * 1024 };
    execFile(program, args, options, (error, out, err) => {
      if (error) fail(new Error(`${program} ${args.join(' ')}: ${out}${err || error.message}`));
      else done(out + err);
    });
  });
}
