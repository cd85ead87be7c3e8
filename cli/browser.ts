import { spawn } from 'node:child_process';
import { platform } from 'node:os';

/** An opener still running after this time is itself a browser. */
const OPENER_PATIENCE_MS = 3000;

/** For other schemes the opener starts another program, and a leading dash makes it an option. */
const OF_THE_WEB = /^https?:\/\//;

/**
 * Opens a web address without a shell. Returns false if there is no desktop, the opener fails or the text isn't a web
 * address: it may come from a gateway.
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
