import { userInfo } from 'node:os';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../../../shared/host/make-folder.ts';
import { troubleOf } from '../../../shared/host/start-trouble.ts';
import { userFolder } from '../../../shared/host/user-folder.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe('a folder that cannot be made', () => {
  it('is named, with what is in the way and the way out', () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    const home = join(file, '.local', 'state');
    const trouble = troubleOf(thrownBy(() => makeFolder(home)));
    expect(trouble?.text).toContain(file);
    expect(trouble?.text).toMatch(/can't be made.*is no folder/);
    expect(trouble?.cure).toContain('SVC_HOME');
  });

  it('in a place that takes none is named too', () => {
    const trouble = troubleOf(thrownBy(() => makeFolder('/proc/svc/state')));
    expect(trouble?.text).toContain('/proc/svc');
  });
});

describe('the user folder', () => {
  it('is HOME', () => expect(userFolder({ HOME: '/home/ana' })).toBe('/home/ana'));

  it.each(['', 'relative', undefined])(
    'is never the current folder, whatever HOME says: %s',
    (HOME) => {
      const env = HOME === undefined ? {} : { HOME };
      expect(userFolder(env)).toBe(userInfo().homedir);
    },
  );
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}
