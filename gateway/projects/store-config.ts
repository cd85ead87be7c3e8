import { NAME_PLACE, type DatabaseMaker, type RemoteStore } from '../store/databases.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

type Env = NodeJS.ProcessEnv;
type Complain = (problem: string) => void;

const SCHEMES = ['libsql:', 'https:', 'http:'];

/**
 * Reads SVC_DATABASE_URL and SVC_DATABASE_TOKEN, the libSQL server that holds the databases, with `{project}` in
 * place of a name; and SVC_DATABASE_CREATE_URL with its token, if the server must be asked to create each. Returns
 * null for files. Problems never show a value: a URL may contain a secret.
 */
export function readStoreConfig(env: Env, complain: Complain): RemoteStore | null {
  const url = env['SVC_DATABASE_URL'] ?? '';
  const maker = readMaker(env, complain);
  if (url === '') {
    for (const name of ['SVC_DATABASE_TOKEN', 'SVC_DATABASE_CREATE_URL']) {
      if (env[name]) complain(`${name} is set, and SVC_DATABASE_URL is not.`);
    }
    return null;
  }
  if (!url.includes(NAME_PLACE)) {
    complain(
      'SVC_DATABASE_URL: `{project}` is missing. Each project has a database of its own: `libsql://{project}-team.example.com`.',
    );
  }
  if (!isAddress(url, SCHEMES)) {
    complain(
      'SVC_DATABASE_URL must begin with libsql://, https:// or http://, without a user, a password or a `#` part.',
    );
  } else if (!hasKnownParameters(url)) {
    complain('SVC_DATABASE_URL has a parameter: libsql:// alone may have one, which is `tls=0`.');
  }
  return { url, token: readToken('SVC_DATABASE_TOKEN', env, complain), maker };
}

function readMaker(env: Env, complain: Complain): DatabaseMaker | null {
  const url = env['SVC_DATABASE_CREATE_URL'] ?? '';
  const token = readToken('SVC_DATABASE_CREATE_TOKEN', env, complain);
  if (url === '') {
    if (token) complain('SVC_DATABASE_CREATE_TOKEN is set, and SVC_DATABASE_CREATE_URL is not.');
    return null;
  }
  if (!isAddress(url, ['https:', 'http:'])) {
    complain('SVC_DATABASE_CREATE_URL begins with https:// or http://, without user or password.');
  }
  return { url, token };
}

/** It's sent in a header as it is. */
function readToken(name: string, env: Env, complain: Complain): string | null {
  const token = env[name] ?? '';
  if (token === '') return null;
  if (!/^[\x21-\x7e]+$/.test(token)) complain(`${name} is one line of visible characters.`);
  return token;
}

function isAddress(text: string, schemes: readonly string[]): boolean {
  const sample = parsedUrl(text.replaceAll(NAME_PLACE, 'prj-0123456789abcdef'));
  if (!sample) return false;
  const { protocol, hostname, username, password, hash } = sample;
  return schemes.includes(protocol) && hostname !== '' && !username && !password && !hash;
}

/** Allows only what the libSQL client understands; it wouldn't know any other parameter, such as a token. */
function hasKnownParameters(text: string): boolean {
  const { protocol, search } = new URL(text.replaceAll(NAME_PLACE, 'prj'));
  return search === '' || (protocol === 'libsql:' && search === '?tls=0');
}

/** Whether traffic to the server is unencrypted. */
export function isInClear({ url }: RemoteStore): boolean {
  return /^http:/i.test(url) || url.endsWith('?tls=0');
}
