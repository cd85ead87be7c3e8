import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

/** The exit code of the executable, and what it says on standard error. */
function svc(env: Record<string, string>): Promise<[code: unknown, err: string]> {
  return new Promise((done) => {
    const args = [resolve('dist/svc.cjs'), 'kv', 'list'];
    const options = { env: { ...process.env, ...env } };
    execFile(process.execPath, args, options, (error, _out, err) => done([error?.code, err]));
  });
}

it('a gateway behind TLS is called by the executable, too', async () => {
  // Another test could take a port that was free a moment ago.
  const gateway = 'https://127.0.0.1:1';
  const [code, err] = await svc({ SVC_GATEWAY: gateway, SVC_API_KEY: 'svc_live_none' });
  expect(err).toContain(`UNREACHABLE: Can't reach ${gateway} (ECONNREFUSED).`);
  expect(code).toBe(7);
});
