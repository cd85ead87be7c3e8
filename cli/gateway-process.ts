import { pathToFileURL } from 'node:url';
import { processScript } from '../daemon/launch.ts';

/**
 * Goes on as a process of the gateway, which takes over signals, output and exit code. There is no second process: what
 * ends this one, even SIGKILL, leaves nobody on the data.
 */
export async function becomeGateway(
  name: 'gateway' | 'gateway/admin',
  options: readonly string[],
): Promise<never> {
  const { script, fromSource } = processScript(name);
  process.argv = [process.execPath, script, ...options];
  // A gateway has no use for the caller's key.
  delete process.env['SVC_API_KEY'];
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  process.stdout.removeAllListeners('error');
  // Built, this is `require`, which takes a path; `import` takes a URL.
  await import(fromSource ? pathToFileURL(script).href : script);
  return new Promise(() => undefined);
}
