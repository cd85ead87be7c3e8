import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startNginx } from '../gateway/server/nginx.ts';

const SHOWN = 'gateway/deploy/nginx.conf';
const SHOWN_SERVERS = ['10.0.0.11:4780', '10.0.0.12:4780'] as const;

/** Which way nginx takes: by project, as the file shows it, or to one gateway after the other. */
export type Road = 'hashed' | 'even';

/** A request as nginx passed it on. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The gateways that were tried, by their number; the last one answered, if any did. */
  readonly by: readonly number[];
}

interface DeployedWanted {
  readonly program: string;
  readonly folder: string;
  /** The two gateways, as `127.0.0.1:4780`. */
  readonly gateways: readonly [string, string];
  /** Where nginx listens, an address for each road. */
  readonly urls: Readonly<Record<Road, string>>;
  /** For how long it leaves a gateway alone that failed; as long as the file says, unless given. */
  readonly failTimeout?: string;
}

/** An nginx with the configuration that operators get, and a second one without the hash. */
export class DeployedNginx {
  readonly #wanted: DeployedWanted;
  readonly #nginx: Awaited<ReturnType<typeof startNginx>>;

  private constructor(wanted: DeployedWanted, nginx: Awaited<ReturnType<typeof startNginx>>) {
    this.#wanted = wanted;
    this.#nginx = nginx;
  }

  /** Resolves when it answers. */
  static async start(wanted: DeployedWanted): Promise<DeployedNginx> {
    const { program, folder, urls } = wanted;
    const format = "log_format road '$request_method $request_uri $status $upstream_addr';\n";
    const server = format + moved(wanted, 'hashed') + evened(moved(wanted, 'even'));
    const nginx = await startNginx(program, { folder, server, url: urls.hashed });
    return new DeployedNginx(wanted, nginx);
  }

  /** The requests it has passed on; it logs a line when an answer ends. */
  get passed(): Passed[] {
    const lines = readFileSync(accessLog(this.#wanted), 'utf8').split('\n');
    return lines.filter(Boolean).map((line) => {
      const [method = '', path = '', status = '', ...upstreams] = line.split(' ');
      const tried = upstreams.map((one) => one.replace(',', ''));
      const by = tried.map((one) => this.#wanted.gateways.indexOf(one)).filter((n) => n >= 0);
      return { method, path, status: Number(status), by };
    });
  }

  async end(): Promise<void> {
    await this.#nginx.end();
  }
}

function accessLog({ folder }: DeployedWanted): string {
  return join(folder, 'access.log');
}

/** The published file with the test's addresses and without its certificate. */
function moved(wanted: DeployedWanted, road: Road): string {
  let text = readFileSync(SHOWN, 'utf8');
  const replace = (shown: string | RegExp, own: string): void => {
    if (text.search(shown) === -1) throw new Error(`${SHOWN} has no ${String(shown)}.`);
    text = text.replace(shown, own);
  };
  SHOWN_SERVERS.forEach((server, n) => replace(server, wanted.gateways[n] ?? ''));
  if (wanted.failTimeout !== undefined)
    text = text.replaceAll(/fail_timeout=\w+/g, `fail_timeout=${wanted.failTimeout}`);
  replace('listen 443 ssl;', `listen ${wanted.urls[road].slice('http://'.length)};`);
  replace('server_name', `access_log ${accessLog(wanted)} road;\n  server_name`);
  replace(/^\s*ssl_certificate .*\n\s*ssl_certificate_key .*\n/m, '');
  return text;
}

/** The same from the upstream on, but for the hash: each request goes to the next gateway. */
function evened(text: string): string {
  return text
    .slice(text.indexOf('upstream svc {'))
    .replace('upstream svc {', 'upstream svc_even {')
    .replace('zone svc ', 'zone svc_even ')
    .replace(/^\s*hash .*\n/m, '')
    .replaceAll('http://svc;', 'http://svc_even;');
}
