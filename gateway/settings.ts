import { AddressRangesError } from './lib/address-ranges.ts';
import { LOCAL_INGRESS, readIngressConfig, type IngressConfig } from './lib/ingress-config.ts';
import { BlobsConfigError, readBlobsConfig, type BlobsConfig } from './blobs/blobs-config.ts';
import { CallbackAllow } from './callbacks/callback-allow.ts';
import { MailConfigError } from './mail/mail-config.ts';
import { readMailConfig } from './mail/read-mail-config.ts';
import type { MessagingConfig } from './compose-messaging.ts';
import { readTelegramSettings } from './channels/telegram/telegram-env.ts';

/** The settings for blobs, messaging and callbacks, the same in local mode and on a host. */
export interface Settings {
  readonly blobs: BlobsConfig;
  readonly messaging: MessagingConfig;
  readonly callbackAllow: CallbackAllow;
  readonly ingress: IngressConfig;
}

/** Reads the settings. Null if any is invalid; `complain` gets each problem as a sentence without the value. */
export function readSettings(
  env: NodeJS.ProcessEnv,
  complain: (problem: string) => void,
  ingressDefaults: IngressConfig = LOCAL_INGRESS,
): Settings | null {
  const blobs = readOr(() => readBlobsConfig(env), complain);
  const mail = readOr(() => readMailConfig(env), complain);
  const callbackAllow = readOr(() => CallbackAllow.parse(env['SVC_CALLBACK_ALLOW']), complain);
  const ingress = readIngressConfig(env, ingressDefaults, complain);
  const telegram = readTelegramSettings(env);
  if (telegram && 'problems' in telegram) telegram.problems.forEach(complain);
  else if (blobs && mail && callbackAllow)
    return { blobs, messaging: { mail, telegram }, callbackAllow, ingress };
  return null;
}

/** Returns the reader's result; null after reporting what it threw. */
export function readOr<T>(reader: () => T, complain: (problem: string) => void): T | null {
  try {
    return reader();
  } catch (error) {
    if (
      error instanceof MailConfigError ||
      error instanceof BlobsConfigError ||
      error instanceof AddressRangesError
    ) {
      error.problems.forEach(complain);
    } else {
      complain(error instanceof Error ? error.message : String(error));
    }
    return null;
  }
}
