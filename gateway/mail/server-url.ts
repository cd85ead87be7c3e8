import { isIPv4, isIPv6 } from 'node:net';
import { Password } from './password.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

/** A server, and how to connect to it. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** `from_start` is TLS from the first byte; with `starttls` nothing is sent before the connection is secured. */
  readonly tls: 'from_start' | 'starttls' | 'off';
}

export interface Credentials {
  readonly user: string;
  readonly password: Password;
}

/** A server from a setting, `scheme://user:password@host:port`, and the rest of that URL. */
interface ServerUrl extends ServerAddress {
  readonly credentials: Credentials | null;
  /** From its slash on, as written. */
  readonly path: string;
}

/** The form of such a setting. */
interface ServerUrlForm {
  readonly setting: string;
  /** The scheme without TLS from the first byte; the other one has an `s` at its end. */
  readonly scheme: 'smtp' | 'imap';
  /** Default ports, without TLS from the first byte and with it. */
  readonly ports: readonly [number, number];
  readonly example: string;
}

export type Complain = (problem: string) => void;

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$/;

/**
 * Reads a server URL. Without TLS from the first byte, STARTTLS secures the connection before anything is sent, except by
 * default on this machine, or with `?tls=off` in a private network. Problems name the setting and never show its value.
 */
export function readServerUrl(
  text: string,
  { setting, scheme, ports, example }: ServerUrlForm,
  complain: Complain,
): ServerUrl | null {
  const tell: Complain = (problem) => complain(`${setting}${problem}`);
  const url = new RegExp(`^${scheme}s?://`, 'i').test(text) ? parsedUrl(text) : null;
  if (!url) {
    tell(
      ` must look like \`${example}\` or \`${scheme}s://…\`. Write special characters in the user name and password as %XX.`,
    );
    return null;
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!HOST.test(host) && !isIPv6(host)) tell(' has no valid host.');
  if (url.port === '0') tell(": 0 isn't a port.");
  const isSecure = url.protocol === `${scheme}s:`;
  return {
    host,
    port: Number(url.port) || ports[isSecure ? 1 : 0],
    tls: readTls(url, { host, isSecure }, tell),
    credentials: readCredentials(url, tell),
    path: url.pathname + url.hash,
  };
}

function readTls(
  url: URL,
  { host, isSecure }: { readonly host: string; readonly isSecure: boolean },
  tell: Complain,
): ServerAddress['tls'] {
  const names = [...url.searchParams.keys()];
  const choice = url.searchParams.get('tls');
  if (names.some((name) => name !== 'tls') || names.length > 1) {
    tell(' knows no option but `tls`, once.');
  } else if (choice !== null && choice !== 'required' && choice !== 'off') {
    tell(': tls is neither `required` nor `off`.');
  }
  if (isSecure) {
    if (choice === 'off') tell(`: ${url.protocol}// is never without TLS.`);
    return 'from_start';
  }
  return choice === 'off' || (choice === null && isThisMachine(host)) ? 'off' : 'starttls';
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function readCredentials(url: URL, tell: Complain): Credentials | null {
  if (url.username === '' && url.password === '') return null;
  if (url.username === '' || url.password === '') {
    tell(' has a user name or a password without the other.');
    return null;
  }
  try {
    const password = new Password(decodeURIComponent(url.password));
    return { user: decodeURIComponent(url.username), password };
  } catch {
    tell(': a % in name or password is written as %25.');
    return null;
  }
}
