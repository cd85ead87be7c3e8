import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { gatewayIdIn } from '../../../gateway/cluster/gateway-id.ts';
import { temporaryFolder } from '../../helpers/gateway.ts';

it('replaces a damaged id in the data folder', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'gateway-id'), 'gtw_\n');
  const id = gatewayIdIn(folder.path);
  expect(id).toMatch(/^gtw_[0-9a-f]{16}$/);
  expect(readFileSync(join(folder.path, 'gateway-id'), 'utf8')).toBe(`${id}\n`);
  folder.remove();
});
