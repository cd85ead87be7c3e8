import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/gateway.ts';

it('the way round a refused npm link, as README names it, puts svc into ~/.local/bin', () => {
  const home = temporaryFolder();
  onTestFinished(home.remove);
  const [, line = ''] =
    /`(npm [^`]*~\/\.local[^`]*)`/.exec(readFileSync('README.md', 'utf8')) ?? [];
  const env = { PATH: process.env['PATH'], HOME: home.path };
  execFileSync('sh', ['-c', line], { env, stdio: 'ignore' });
  const svc = join(home.path, '.local', 'bin', 'svc');
  expect(execFileSync(svc, ['--version'], { env, encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
});
