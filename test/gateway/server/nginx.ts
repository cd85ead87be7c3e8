import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Certified } from '../../helpers/tls-front.ts';

const SHOWN = 'gateway/deploy/proxy.conf';

/** The nginx server that operators are given, moved to ports of this test, with this certificate or with no TLS. */
export function deployedServer(port: number, gateway: string, certified?: Certified): string {
  let text = readFileSync(SHOWN, 'utf8');
  const replace = (shown: string | RegExp, own: string): void => {
    if (text.search(shown) === -1) throw new Error(`${SHOWN} has no ${String(shown)}.`);
    text = text.replace(shown, own);
  };
  replace('listen 443 ssl;', `listen 127.0.0.1:${port}${certified ? ' ssl' : ''};`);
  replace('http://127.0.0.1:4780', gateway);
  replace(/ssl_certificate .*\n/, certified ? `ssl_certificate ${certified.certFile};\n` : '\n');
  replace(
    /ssl_certificate_key .*\n/,
    certified ? `ssl_certificate_key ${certified.keyFile};\n` : '\n',
  );
  return text;
}

/** An nginx of this test alone, everything of it in one folder. Resolves when it listens. */
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
  const deadline = performance.now() + 60_000;
  while (!(await isListening(Number(new URL(url).port)))) {
    if (performance.now() > deadline) throw new Error('nginx does not listen.');
    await new Promise((done) => setTimeout(done, 20));
  }
  return {
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true));
    socket
      .on('error', () => done(false))
      .unref()
      .on('connect', () => socket.destroy());
  });
}

function configuration(folder: string, server: string): string {
  const temporary = ['proxy', 'fastcgi', 'uwsgi', 'scgi', 'client_body'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
worker_rlimit_nofile 18000;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporary.join('\n  ')}
${server}
}
`;
}
