import { readFileSync } from 'node:fs';
import { DeployedHaproxy } from '../helpers/deployed-haproxy.ts';
import { freePort } from '../helpers/programs.ts';
import { deployedServer, startNginx } from '../gateway/server/nginx.ts';

const PAGE = 'docs/gateway.md';

export const PROXIES = ['nginx', 'haproxy'] as const;
export type Proxy = (typeof PROXIES)[number];

interface Fronted {
  readonly program: string;
  readonly folder: string;
  /** Such as `127.0.0.1:4780`. */
  readonly gateway: string;
}

export interface Front {
  readonly port: number;
  end(): Promise<void>;
}

/** A proxy in front of one gateway: the files in `gateway/deploy`, with the limits that the page on floods shows. */
export async function startFront(proxy: Proxy, fronted: Fronted): Promise<Front> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const started = proxy === 'nginx' ? await nginxAt(url, fronted) : await haproxyAt(url, fronted);
  return { port, end: () => started.end() };
}

function nginxAt(
  url: string,
  { program, folder, gateway }: Fronted,
): ReturnType<typeof startNginx> {
  const [http = '', ofServer = ''] = shown('nginx').split(/^.*in the server block.*$/m);
  const server = deployedServer(Number(new URL(url).port), `http://${gateway}`);
  return startNginx(program, {
    folder,
    server: http + server.replace('server {', `server {\n${ofServer}`),
    url,
  });
}

function haproxyAt(url: string, { program, folder, gateway }: Fronted): Promise<DeployedHaproxy> {
  const gateways = [gateway, gateway] as const;
  return DeployedHaproxy.start({ program, folder, gateways, url, frontend: shown('haproxy') });
}

/** The block of the page that is written in this program's language. */
function shown(language: Proxy): string {
  const block = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm');
  const [, text] = block.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (text === undefined) throw new Error(`${PAGE} shows no limits of ${language}.`);
  return text;
}
