import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { SOCKET_PATH_MAX_BYTES } from '../../shared/host/gateway-data.ts';

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/**
 * Parses `127.0.0.1:4780`, `[::1]:4780`, `localhost:4780` or `unix:/path`; port 0 takes a free one. Throws an Error
 * that names the problem.
 */
export function parseListenAddress(text: string): ListenAddress {
  if (text.startsWith('unix:')) return { kind: 'unix', path: checkedPath(text.slice(5)) };
  const [, inBrackets, plain, digits = ''] =
    /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? plain ?? '';
  const isHost =
    inBrackets === undefined ? isIP(host) === 4 || host === 'localhost' : isIP(host) === 6;
  if (!isHost) {
    throw new Error(
      'SVC_LISTEN must look like `127.0.0.1:4780`, `[::1]:4780` or `unix:/run/svc/gateway.sock`.',
    );
  }
  if (Number(digits) > 65_535)
    throw new Error('SVC_LISTEN: the port must be a number up to 65535.');
  return { kind: 'tcp', host, port: Number(digits) };
}

/** Whether only this machine can call the address; false for a unix socket, because a proxy serves it. */
export function isLoopback(address: ListenAddress): boolean {
  if (address.kind === 'unix') return false;
  const { host } = address;
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Formats the address, with the real port in place of 0. */
export function listenText(address: ListenAddress, port: number): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  return `http://${isIP(address.host) === 6 ? `[${address.host}]` : address.host}:${port}`;
}

function checkedPath(path: string): string {
  if (!isAbsolute(path)) throw new Error('SVC_LISTEN: the path after `unix:` must begin with `/`.');
  if (Buffer.byteLength(path) > SOCKET_PATH_MAX_BYTES) {
    throw new Error(`SVC_LISTEN: a socket path has ${SOCKET_PATH_MAX_BYTES} bytes at most.`);
  }
  return path;
}
