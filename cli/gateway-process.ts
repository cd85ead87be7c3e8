import { pathToFileURL } from 'node:url';
import { processScript } from '../daemon/launch.ts';

/**
 * Continues as the gateway in this same process, which takes over signals, output and exit code. Without a second
 * process, nothing keeps using the data after this one ends, even by SIGKILL.
 */
export async function becomeGateway(
  name: 'gateway' | 'gateway/admin',
  options: readonly string[],
): Promise<never> {
  const { script, fromSource } = processScript(name);
  process.argv = [process.execPath, script, ...options];
  // A gateway doesn't need the caller's key.
  delete process.env['SVC_API_KEY'];
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  process.stdout.removeAllListeners('error');
  // In the build, `import` becomes `require`, which takes a path; from source it takes a URL.
  await import(fromSource ? pathToFileURL(script).href : script);
  return new Promise(() => undefined);
}
