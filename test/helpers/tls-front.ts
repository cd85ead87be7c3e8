import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { required } from './require.ts';

export interface Certified {
  /** The CA certificate for clients to trust. */
  readonly caFile: string;
  readonly keyFile: string;
  readonly certFile: string;
}

/** Runs `openssl` with arguments that are written in lines, with a space between them. */
function openssl(...lines: string[]): void {
  execFileSync('openssl', lines.join(' ').split(' '), { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** False where no certificates can be made. */
export function hasOpenssl(why: string): boolean {
  try {
    openssl('version');
    return true;
  } catch {
    return required(why, false, 'openssl is not installed');
  }
}

const EC_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30';
const NAMES = 'subjectAltName=IP:127.0.0.1,DNS:localhost';

/** A certificate, for 127.0.0.1 and localhost, signed by an authority that nobody else knows. */
export function certifiedByOwnCa(folder: string, alternatives = NAMES): Certified {
  const at = (name: string): string => join(folder, name);
  const names = at('names');
  writeFileSync(names, `${alternatives}\n`);
  const authority = `-keyout ${at('ca.key')} -out ${at('ca.pem')}`;
  openssl(`req -x509 ${EC_KEY} -subj /CN=authority`, authority);
  openssl(`req ${EC_KEY} -subj /CN=gateway -keyout ${at('leaf.key')} -out ${at('leaf.csr')}`);
  openssl(
    `x509 -req -in ${at('leaf.csr')} -CA ${at('ca.pem')} -CAkey ${at('ca.key')} -CAcreateserial`,
    `-days 30 -extfile ${names} -out ${at('leaf.pem')}`,
  );
  return { caFile: at('ca.pem'), keyFile: at('leaf.key'), certFile: at('leaf.pem') };
}

/** As `openssl req -x509` makes one: it has signed itself, and is an authority by its extensions. */
export function certifiedByItself(folder: string): Certified {
  const [keyFile, certFile] = [join(folder, 'self.key'), join(folder, 'self.pem')];
  const files = `-keyout ${keyFile} -out ${certFile}`;
  openssl(`req -x509 ${EC_KEY} -subj /CN=gateway -addext ${NAMES}`, files);
  return { caFile: certFile, keyFile, certFile };
}

/** Speaks TLS in front of a gateway that does not. */
export class TlsFront {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(target: string, { keyFile, certFile }: Certified): Promise<TlsFront> {
    const credentials = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
    const server = createServer(credentials, (incoming, outgoing) => {
      const { method, headers, url = '/' } = incoming;
      const forward = request(target + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      forward.on('error', () => outgoing.destroy());
      outgoing.on('close', () => forward.destroy());
      incoming.pipe(forward);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TlsFront(server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
