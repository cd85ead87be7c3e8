import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { chosenProfile } from './chosen-profile.ts';
import { writePrivateFile } from './files.ts';
import type { Home } from './home.ts';

/** Begins a line of the joined file. */
const MISSING = '# Not readable: ';

interface Start {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly profile?: string | undefined;
}

/**
 * The file of certificate authorities the daemon trusts besides Node's own; null if it needs no file. An editor that
 * starts the daemon lacks the environment of the shell where the user signed in, and may name another file. Node takes
 * only one file, so this joins the two.
 */
export function authoritiesFile(start: Start): string | null {
  const named = [ofSignIn(start), start.env['NODE_EXTRA_CA_CERTS']].filter((path) => path);
  const files = [...new Set(named.map((path) => resolve(path ?? '')))];
  if (files.length < 2) return files[0] ?? null;
  const both = join(dirname(start.home.daemonFile), 'authorities.pem');
  writePrivateFile(both, files.map(textOf).join('\n'));
  return both;
}

function ofSignIn({ home, profile }: Start): string | undefined {
  try {
    return chosenProfile(home.credentialsFile, profile)?.ca_file;
  } catch {
    // The daemon reads the file again and reports the fault.
    return undefined;
  }
}

/** Names an unreadable file in a line that Node skips, as it skips such a file. */
function textOf(path: string): string {
  return read(path) ?? `${MISSING}${path}\n`;
}

/** The file of certificate authorities that a daemon with this environment should have and can't read; null if none. */
export function missingAuthorities(env: NodeJS.ProcessEnv): string | null {
  const file = env['NODE_EXTRA_CA_CERTS'];
  if (!file) return null;
  const text = read(file);
  if (text === null) return file;
  const line = text.split('\n').find((one) => one.startsWith(MISSING));
  return line === undefined ? null : line.slice(MISSING.length);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
