import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SHOWN = 'gateway/deploy/proxy.conf';

/** The nginx server that operators are given, moved to ports of this test and without its certificate. */
export function deployedServer(port: number, gateway: string): string {
  const moved = readFileSync(SHOWN, 'utf8')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace('http://127.0.0.1:4780', gateway)
    .replaceAll(/^\s*ssl_certificate.*\n/gm, '');
  if (!moved.includes(`listen 127.0.0.1:${port};`) || !moved.includes(`proxy_pass ${gateway};`)) {
    throw new Error(`${SHOWN} doesn't have the lines this test moves.`);
  }
  return moved;
}

/** An nginx of this test alone, everything of it in one folder. Resolves when it answers. */
export async function startNginx(
  program: string,
  { folder, server, url }: { folder: string; server: string; url: string },
): Promise<{ end(): Promise<void> }> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, server));
  const child: ChildProcess = spawn(program, ['-e', join(folder, 'error.log'), '-c', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const exited = once(child, 'exit');
  const deadline = performance.now() + 10_000;
  while (!(await fetch(url).catch(() => null))) {
    if (performance.now() > deadline) throw new Error('nginx does not answer.');
    await new Promise((done) => setTimeout(done, 20));
  }
  return {
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function configuration(folder: string, server: string): string {
  const temporary = ['proxy', 'fastcgi', 'uwsgi', 'scgi', 'client_body'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
events { worker_connections 2048; }
http {
  access_log off;
  ${temporary.join('\n  ')}
${server}
}
`;
}
