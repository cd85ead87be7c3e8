import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readServerConfig } from '../../../gateway/server/config.ts';
import { SETTINGS } from '../../../gateway/server/setting-names.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

const operating = readFileSync('docs/gateway.md', 'utf8');
const files = readFileSync('docs/files-and-settings.md', 'utf8');
const settings = /\n## Settings of the gateway\n([\s\S]*)/.exec(files)?.[1] ?? '';

it('the page of settings has every one of the gateway, and no other', () => {
  const rows = settings.split('\n').filter((line) => line.startsWith('| `SVC_'));
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/SVC_[A-Z_]+/g) ?? []);
  expect(named.toSorted()).toEqual([...SETTINGS].toSorted());
});

it('the settings that are shown for one gateway are good ones', () => {
  const shown = readFileSync('gateway/deploy/gateway.env', 'utf8');
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'gateway.env');
    writeFileSync(file, shown, { mode: 0o600 });
    const config = readServerConfig({}, file);
    expect(config).toMatchObject({
      publicUrl: 'https://svc.example.com',
      dataFolder: '/var/lib/svc-gateway',
      settings: { messaging: { mail: { kind: 'smtp' } } },
      warnings: [],
    });
  } finally {
    folder.remove();
  }
});

it('the settings that are shown for several gateways are good ones', () => {
  const shown = /```ini\n(# \/etc\/svc\/gateway\.env on every machine[\s\S]*?)```/.exec(
    operating,
  )?.[1];
  const folder = temporaryFolder();
  try {
    const file = join(folder.path, 'gateway.env');
    writeFileSync(file, shown ?? '', { mode: 0o600 });
    const config = readServerConfig({}, file);
    expect(config).toMatchObject({
      masterKeyFile: '/etc/svc/master.key',
      store: { url: 'libsql://{project}-team.turso.io' },
      settings: { blobs: { kind: 's3', bucket: 'svc-files' } },
      warnings: [],
    });
    expect(config.trustedProxies.has('10.0.0.2')).toBe(true);
  } finally {
    folder.remove();
  }
});
