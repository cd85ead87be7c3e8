import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claimMode } from '../../../gateway/lib/data-mode.ts';
import { StartRefusal } from '../../../shared/host/start-refusal.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

it('a data folder belongs to a daemon or to a gateway, whichever came first', () => {
  const folder = temporaryFolder();
  try {
    claimMode(folder.path, 'hosted');
    claimMode(folder.path, 'hosted');
    expect(readFileSync(join(folder.path, 'mode'), 'utf8')).toBe('hosted\n');
    expect(() => claimMode(folder.path, 'local')).toThrow(StartRefusal);
    expect(() => claimMode(folder.path, 'local')).toThrow(
      `The data in ${folder.path} belong to a gateway (\`svc gateway\`). Choose another folder.`,
    );
    // A note that says nothing is written anew.
    writeFileSync(join(folder.path, 'mode'), '');
    claimMode(folder.path, 'local');
    expect(() => claimMode(folder.path, 'hosted')).toThrow(/the daemon of this machine/);
  } finally {
    folder.remove();
  }
});
