import { join, resolve } from 'node:path';
import { readConfigFile } from '../../shared/host/config-file.ts';
import { defaultDataFolder } from '../../shared/host/gateway-data.ts';
import { readBlobsConfig, type BlobsConfig, type S3Config } from '../blobs/blobs-config.ts';
import { Databases } from '../store/databases.ts';
import { readStoreConfig } from '../projects/store-config.ts';
import { readOr } from '../settings.ts';
import { AdminError } from './admin-error.ts';

/** Where a gateway has its data: the settings that operator commands need. */
export interface AdminSettings {
  readonly dataFolder: string;
  /** Null if it's in the data folder. */
  readonly masterKeyFile: string | null;
  /** The bucket that holds the blobs, as `s3://name`; null if they're in the data folder. */
  readonly bucket: string | null;
  /** How to reach the bucket; null if there is none. */
  readonly blobs: S3Config | null;
  /** The blob folder shared with other gateways; null if there is none. */
  readonly blobsFolder: string | null;
  /** In the data folder, or on a server. */
  readonly databases: Databases;
}

/** Reads the settings as the gateway does. `data` overrides SVC_DATA. Throws an `AdminError` with all problems. */
export function readAdminSettings(
  processEnv: NodeJS.ProcessEnv,
  options: { readonly config?: string; readonly data?: string },
): AdminSettings {
  const problems: string[] = [];
  const complain = (problem: string): void => void problems.push(problem);
  const path = options.config ?? (processEnv['SVC_CONFIG'] || null);
  const env = { ...(path === null ? {} : readConfigFile(path, complain)), ...processEnv };
  const blobs = readOr(() => readBlobsConfig(env), complain);
  const store = readStoreConfig(env, complain);
  if (problems.length > 0) {
    throw new AdminError(['Some settings are invalid.', ...problems].join('\n  '));
  }
  const dataFolder = resolve(options.data ?? (env['SVC_DATA'] || defaultDataFolder(env)));
  return {
    dataFolder,
    masterKeyFile: env['SVC_MASTER_KEY_FILE'] ? resolve(env['SVC_MASTER_KEY_FILE']) : null,
    ...placeOf(blobs),
    databases: new Databases(dataFolder, store),
  };
}

function placeOf(
  blobs: BlobsConfig | null,
): Pick<AdminSettings, 'bucket' | 'blobs' | 'blobsFolder'> {
  if (blobs?.kind === 's3') return { bucket: `s3://${blobs.bucket}`, blobs, blobsFolder: null };
  return { bucket: null, blobs: null, blobsFolder: blobs?.folder ?? null };
}

/** The file of the master key. */
export function keyFileOf({
  masterKeyFile,
  dataFolder,
}: Pick<AdminSettings, 'masterKeyFile' | 'dataFolder'>): string {
  return masterKeyFile ?? join(dataFolder, 'master.key');
}
