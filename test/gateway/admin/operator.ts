import { execFile } from 'node:child_process';
import { resolve } from 'node:path';

export const OPERATOR = resolve('dist/gateway-admin.js');

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of an operator in a process of its own, beside whatever else has the data. */
export function operator(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { SVC_DATA: _, SVC_MASTER_KEY_FILE: __, SVC_BLOBS: ___, ...clean } = process.env;
  return new Promise((done) => {
    execFile(
      process.execPath,
      [OPERATOR, ...args],
      { env: { ...clean, ...env } },
      (error, out, err) => done({ code: error ? Number(error.code ?? 1) : 0, out, err }),
    );
  });
}
