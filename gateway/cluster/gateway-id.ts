import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the id of the gateway that owns this data folder. It survives restarts, so the gateway continues where it
 * stopped.
 */
export function gatewayIdIn(dataFolder: string): string {
  const file = join(dataFolder, 'gateway-id');
  if (existsSync(file)) {
    const id = readFileSync(file, 'utf8').trim();
    if (/^gtw_[0-9a-f]{16}$/.test(id)) return id;
  }
  const id = `gtw_${randomBytes(8).toString('hex')}`;
  writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}
