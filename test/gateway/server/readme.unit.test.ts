import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readServerConfig } from '../../../gateway/server/config.ts';
import { SETTINGS } from '../../../gateway/server/setting-names.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const readme = readFileSync('README.md', 'utf8');
const deploy = /\n## Deploy a gateway\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';

it('the README has every setting of the gateway, and no other', () => {
  const rows = deploy.split('\n').filter((line) => line.startsWith('| `SVC_'));
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/SVC_[A-Z_]+/g) ?? []);
  expect(named.toSorted()).toEqual([...SETTINGS].toSorted());
});

it('the settings that the README shows are good ones', () => {
  const shown = /```sh\n(# \/etc\/svc\/gateway\.env[\s\S]*?)```/.exec(deploy)?.[1] ?? '';
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'gateway.env');
    writeFileSync(file, shown, { mode: 0o600 });
    const config = readServerConfig({}, file);
    expect(config).toMatchObject({
      publicUrl: 'https://svc.example.com',
      dataFolder: '/var/lib/svc-gateway',
      settings: { people: { mail: { kind: 'smtp' } } },
      warnings: [],
    });
  } finally {
    folder.remove();
  }
});
