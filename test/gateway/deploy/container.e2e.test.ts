import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { required } from '../../helpers/require.ts';
import { buildScript, readStages, rootOf, runOf } from './dockerfile.ts';

const overlays =
  spawnSync('unshare', [
    '--mount',
    'sh',
    '-c',
    'mount -t tmpfs none /mnt && grep -q overlay /proc/filesystems',
  ]).status === 0;

/** What a fresh checkout has, with what isn't committed yet. */
function copyCheckout(to: string): void {
  const listed = execFileSync('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ]);
  for (const path of listed.toString().split('\0').filter(Boolean)) cpSync(path, join(to, path));
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

describe.runIf(required('the container', overlays, 'needs root and overlay mounts'))(
  'the steps of the Dockerfile, in a clean folder',
  () => {
    const folder = temporaryFolder();
    afterAll(() => folder.remove());

    it('make a gateway that gets ready, as the user node, and ends at SIGTERM', () => {
      const stages = readStages('gateway/deploy/Dockerfile');
      const context = join(folder.path, 'context');
      mkdirSync(context);
      copyCheckout(context);
      const last = stages.at(-1) ?? { name: '', instructions: [] };
      const { user, env, command, health } = runOf(last);
      const root = rootOf(folder.path, stages.length - 1);
      const inside = `chroot --userspec=${user}:${user} ${root} env -i PATH="$PATH" HOME=/home/${user} ${env.join(' ')} SVC_PUBLIC_URL=https://svc.example.com`;
      const script = `${buildScript(stages, { context, folder: folder.path })}
unshare --net sh -euc ${quoted([
        `ip link set lo up
${inside} ${quoted(command)} >${folder.path}/log 2>&1 &
gateway=$!
trap 'kill $gateway' EXIT
tries=0
until ${inside} ${quoted(health)}; do
  tries=$((tries + 1)); [ $tries -lt 150 ] && kill -0 $gateway || { cat ${folder.path}/log; exit 1; }
  sleep 0.2
done
stat --format=owner:%U ${root}/data/control.db
kill $gateway
wait $gateway && echo ended:$?
trap - EXIT`,
      ])}`;
      const run = spawnSync('unshare', ['--mount', 'sh', '-c', script], { encoding: 'utf8' });
      expect(run.stderr).not.toMatch(/Error|not found/);
      expect(run.stdout).toMatch(/ended:0\n$/);
      expect(run.status).toBe(0);
    });
  },
);
