import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

/**
 * What `POST /v1/namespaces/{name}/create` takes, of what matters here: `CreateNamespaceReq` and
 * `handle_create_namespace` in `libsql-server/src/http/admin/mod.rs`, commit f8fb14f.
 */
export const NamespaceConfig = z.object({
  /** Without it, sqld syncs no commit: the default of `DurabilityMode` in `connection/config.rs` is `relaxed`. */
  durability_mode: z
    .enum(['extra', 'strong', 'relaxed', 'off'])
    .nullish()
    .transform((mode) => mode ?? 'relaxed'),
  txn_timeout_s: z.int().min(0).nullish(),
});
export type NamespaceConfig = z.output<typeof NamespaceConfig>;

/**
 * The mode as `CoreConnection::new` (`libsql-server/src/connection/connection_core.rs`) sets it for each connection, by
 * `ToSql for DurabilityMode`.
 */
export const SYNCHRONOUS = {
  extra: 'EXTRA',
  strong: 'FULL',
  relaxed: 'NORMAL',
  off: 'OFF',
} as const;

/**
 * sqld makes no database that nobody has asked for (`NamespaceStore::with`), so it has no default for this. Here such a
 * database stands for one that the operator has made as the gateway wants it, or the gateway would refuse each of them.
 */
const NOT_ASKED_FOR: NamespaceConfig = { durability_mode: 'strong', txn_timeout_s: null };

export function saveConfig(folder: string, config: NamespaceConfig): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
}

export function configOf(folder: string): NamespaceConfig {
  const path = join(folder, 'config.json');
  if (!existsSync(path)) return NOT_ASKED_FOR;
  return NamespaceConfig.parse(JSON.parse(readFileSync(path, 'utf8')));
}
