import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newApiKey, newProjectId } from '../../shared/lib/ids.ts';
import { VERSION } from '../../shared/lib/version.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (seen: Seen, response: ServerResponse) => void;

/** A home with a key, and real HTTP on its socket once it listens. */
export class FakeDaemon {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  readonly project = newProjectId();
  readonly apiKey = newApiKey(this.project);
  readonly seen: Seen[] = [];
  readonly env: NodeJS.ProcessEnv = { SVC_HOME: this.folder };
  readonly home = {
    credentialsFile: join(this.folder, 'credentials.json'),
    daemonFile: join(this.folder, 'daemon.json'),
    socketPath: join(this.folder, 'svc.sock'),
  };
  readonly #server: Server;

  constructor(answer: Answer) {
    const profile = { gateway: null, api_key: this.apiKey, project: this.project };
    this.write('credentials.json', { profiles: { default: profile }, current: 'default' });
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const seen = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
        this.seen.push(seen);
        response.setHeader('x-service-version', VERSION);
        answer(seen, response);
      });
    });
  }

  write(name: string, value: unknown): void {
    writeFileSync(join(this.folder, name), JSON.stringify(value), { mode: 0o600 });
  }

  listen(at: string | number = this.home.socketPath): Promise<void> {
    return new Promise((resolve) => {
      if (typeof at === 'number') this.#server.listen(at, '127.0.0.1', resolve);
      else this.#server.listen(at, resolve);
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Answers JSON. */
export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** An error of the interface. */
export function refuse(response: ServerResponse, status: number, code: string): void {
  json(response, { error: { code, message: `${code}.`, hint: null } }, status);
}
