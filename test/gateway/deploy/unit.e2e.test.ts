import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/gateway.ts';
import { findProgram } from '../../helpers/programs.ts';
import { required } from '../../helpers/require.ts';

const UNIT = 'gateway/deploy/svc-gateway.service';
const analyze = findProgram('systemd-analyze');

describe.runIf(required('systemd-analyze', analyze !== null, 'apt-get install -y systemd'))(
  'the unit for systemd',
  () => {
    const folder = temporaryFolder();
    afterAll(() => folder.remove());

    /** Where systemd looks for `svc`, nothing has to be installed: any program may stand there. */
    function verified(text: string): { readonly status: number | null; readonly said: string } {
      const program = join(folder.path, 'svc');
      copyFileSync('/bin/true', program);
      const file = join(folder.path, 'svc-gateway.service');
      writeFileSync(file, text.replace('ExecStart=svc ', `ExecStart=${program} `));
      const run = spawnSync(analyze ?? '', ['verify', '--man=no', file], { encoding: 'utf8' });
      // It also names what is wrong with the units of this machine.
      const said = run.stderr.split('\n').filter((line) => line.includes('svc-gateway'));
      return { status: run.status, said: said.join('\n') };
    }

    it('has nothing that systemd would not take', () => {
      expect(verified(readFileSync(UNIT, 'utf8')).said).toBe('');
    });

    it('would be refused with a mistake in it', () => {
      const wrong = readFileSync(UNIT, 'utf8').replace('Restart=always', 'Restart=allways');
      expect(verified(wrong).said).toContain('allways');
    });

    it('exposes little of the machine', () => {
      const options = ['security', '--offline=yes', '--no-pager', '--json=off', resolve(UNIT)];
      const run = spawnSync(analyze ?? '', options, { encoding: 'utf8' });
      expect(run.stdout).toMatch(/Overall exposure level for .*: [0-3]\.\d OK/);
    });
  },
);
