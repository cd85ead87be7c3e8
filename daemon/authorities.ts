import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { chosenProfile } from './chosen-profile.ts';
import { writePrivateFile } from './files.ts';
import type { Home } from './home.ts';

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

/** An empty text for an unreadable file, which Node ignores too. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
