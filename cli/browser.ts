import { spawn } from 'node:child_process';
import { platform } from 'node:os';

/** An opener that still runs then is a browser itself. */
const OPENER_PATIENCE_MS = 3000;

/** For anything but the web an opener starts another program, and what begins with a dash is an option to it. */
const OF_THE_WEB = /^https?:\/\//;

/**
 * False where there is no desktop, when it refuses, and for what is no address of the web: a gateway may have written it.
 * No shell reads it.
 */
export async function openInBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const opener = OF_THE_WEB.test(url) ? openerOf(env) : null;
  if (opener === null) return false;
  const child = spawn(opener, [url], { env, detached: true, stdio: 'ignore' });
  return new Promise((resolve) => {
    const end = (isOpen: boolean): void => {
      clearTimeout(backoff);
      child.unref();
      resolve(isOpen);
    };
    const backoff = setTimeout(() => end(true), OPENER_PATIENCE_MS);
    child.once('error', () => end(false));
    child.once('exit', (code) => end(code === 0));
  });
}

function openerOf(env: NodeJS.ProcessEnv): string | null {
  if (platform() === 'darwin') return 'open';
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : null;
}
