import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../helpers/certificate.ts';

/** What speaks TLS in front of a gateway, as a proxy does: its address is known before the gateway runs. */
export class TlsFront {
  readonly url: string;
  /** Who vouches for it, as PEM. */
  readonly ca: string;
  /** The same as a file. */
  readonly caFile: string;
  /** Where requests are passed on to. */
  target = '';
  readonly #server: Server;
  readonly #folder: string;

  private constructor(server: Server, ca: string) {
    this.#server = server;
    this.ca = ca;
    this.#folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
    this.caFile = join(this.#folder, 'ca.pem');
    writeFileSync(this.caFile, ca);
    this.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (incoming, outgoing) => {
      const { method, url: path, headers } = incoming;
      const sent = request(this.target, { method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      sent.on('error', () => outgoing.destroy());
      incoming.pipe(sent);
    });
  }

  static async start(): Promise<TlsFront> {
    const { key, cert } = selfSigned('127.0.0.1');
    const server = createServer({ key, cert });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new TlsFront(server, cert);
  }

  async stop(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
