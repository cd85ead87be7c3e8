import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pino } from 'pino';
import { readConfigFile } from '../../shared/host/config-file.ts';
import { defaultDataFolder } from '../../shared/host/gateway-data.ts';
import { StartRefusal } from '../../shared/host/start-refusal.ts';
import { AddressRanges } from '../lib/address-ranges.ts';
import { HOSTED_INGRESS } from '../lib/ingress-config.ts';
import type { RemoteStore } from '../store/databases.ts';
import type { MailConfig } from '../mail/mail-config.ts';
import type { MailLimits } from '../store/control/mail-use.ts';
import { readOr, readSettings, type Settings } from '../settings.ts';
import { readBase, readContentUrl } from './base-urls.ts';
import { isLoopback, parseListenAddress, type ListenAddress } from './listen-address.ts';
import { readSignUp, type SignUpRule } from '../auth/sign-up.ts';
import { unknownSettings } from './setting-names.ts';
import { isInClear, readStoreConfig } from '../projects/store-config.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

/** The configuration of the hosted process. */
export interface ServerConfig {
  readonly dataFolder: string;
  /** Null: in the data folder. */
  readonly masterKeyFile: string | null;
  readonly listen: ListenAddress;
  /** The base URL of all links, without a slash at the end; null: the address that it listens on. */
  readonly publicUrl: string | null;
  /** The base URL of webhooks; null: the public one. */
  readonly hooksUrl: string | null;
  /** The base URL of links to strangers' content; null: the public one. */
  readonly contentUrl: string | null;
  /** The database server; null: databases are files in the data folder. */
  readonly store: RemoteStore | null;
  readonly settings: Settings;
  /** Calls per minute and key; 0: no limit. */
  readonly ratePerMinute: number;
  readonly openProjectsMax: number;
  readonly logLevel: string;
  readonly metricsToken: string | null;
  readonly signUp: SignUpRule;
  readonly mailLimits: MailLimits;
  readonly trustedProxies: AddressRanges;
  /** Warnings for the operator, a sentence each. */
  readonly warnings: readonly string[];
  /** Texts that must never appear in the log. */
  readonly secrets: readonly string[];
}

type Env = NodeJS.ProcessEnv;
type Complain = (problem: string) => void;

const RATE = 600;
const OPEN_PROJECTS = 256;
const MAIL_PER_ACCOUNT_DAY = 200;
const MAIL_PER_GATEWAY_DAY = 5000;
const LISTEN_DEFAULT = '127.0.0.1:4780';
const PROXIES_DEFAULT = '127.0.0.0/8,::1/128';
/** Short enough to type, too long to guess. */
const METRICS_TOKEN = /^[\x21-\x7e]{16,512}$/;

/**
 * Reads the settings file, if any, and the environment, which wins. `tryFolder` throws if the data folder is
 * unusable. Throws a `StartRefusal` with all problems and all unknown names, because a typo in a name is often the
 * cause.
 */
export function readServerConfig(
  processEnv: Env,
  configFile: string | null,
  tryFolder: (folder: string) => void = () => undefined,
): ServerConfig {
  const problems: string[] = [];
  const complain: Complain = (problem) => problems.push(problem);
  const path = configFile ?? (processEnv['SVC_CONFIG'] || null);
  const file = path === null ? {} : readConfigFile(path, complain);
  const env: Env = { ...file, ...processEnv };
  const config = readAll(env, complain);
  readOr(() => tryFolder(dataFolderOf(env)), complain);
  const unknown = unknownSettings(Object.keys(processEnv), Object.keys(file));
  if (config === null || problems.length > 0) {
    throw new StartRefusal('Some settings are invalid.', 'settings', [...problems, ...unknown]);
  }
  const warnings = [...unknown, ...remarks(config, path)];
  return { ...config, warnings, secrets: secretsOf(env) };
}

type ConfigValues = Omit<ServerConfig, 'warnings' | 'secrets'>;

/** After any complaint the result is null or must not be used. */
function readAll(env: Env, complain: Complain): ConfigValues | null {
  const listen = readOr(() => parseListenAddress(env['SVC_LISTEN'] || LISTEN_DEFAULT), complain);
  const proxies = env['SVC_TRUSTED_PROXIES'] || PROXIES_DEFAULT;
  const trustedProxies = readOr(
    () => AddressRanges.parse(proxies, 'SVC_TRUSTED_PROXIES'),
    complain,
  );
  const publicUrl = readPublicUrl(env, listen, complain);
  const hooksUrl = readBase('SVC_HOOKS_URL', env, complain);
  const settings = readSettings(env, complain, HOSTED_INGRESS);
  refuseWebhook(settings, publicUrl, complain);
  const rest = {
    dataFolder: dataFolderOf(env),
    masterKeyFile: env['SVC_MASTER_KEY_FILE'] ? resolve(env['SVC_MASTER_KEY_FILE']) : null,
    hooksUrl,
    contentUrl: readContentUrl(env, { listen, publicUrl, hooksUrl }, complain),
    store: readStoreConfig(env, complain),
    ratePerMinute: readCount('SVC_RATE_LIMIT', { env, ordinary: RATE, min: 0 }, complain),
    openProjectsMax: readCount(
      'SVC_OPEN_PROJECTS',
      { env, ordinary: OPEN_PROJECTS, min: 1 },
      complain,
    ),
    mailLimits: readMailLimits(env, complain),
    logLevel: readLogLevel(env, complain),
    metricsToken: readMetricsToken(env, complain),
  };
  const signUp = readOr(() => readSignUp(env['SVC_SIGN_UP'] || 'closed'), complain);
  return listen && trustedProxies && settings && signUp
    ? { ...rest, listen, trustedProxies, publicUrl, settings, signUp }
    : null;
}

/** Telegram sends updates only to https addresses. */
function refuseWebhook(
  settings: Settings | null,
  publicUrl: string | null,
  complain: Complain,
): void {
  if (settings?.messaging.telegram?.mode !== 'webhook' || publicUrl?.startsWith('https://')) return;
  complain('SVC_TELEGRAM_MODE: `webhook` needs a SVC_PUBLIC_URL that begins with https://.');
}

function dataFolderOf(env: Env): string {
  return resolve(env['SVC_DATA'] || defaultDataFolder(env));
}

function readPublicUrl(env: Env, listen: ListenAddress | null, complain: Complain): string | null {
  const base = readBase('SVC_PUBLIC_URL', env, complain);
  if (!env['SVC_PUBLIC_URL'] && listen && !isLoopback(listen)) {
    complain(
      'SVC_PUBLIC_URL is not set: links and webhook addresses begin with it, such as `https://svc.example.com`.',
    );
  }
  return base;
}

function readCount(
  name: string,
  { env, ordinary, min }: { env: Env; ordinary: number; min: number },
  complain: Complain,
): number {
  const text = env[name] || String(ordinary);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min) complain(`${name} must be a whole number from ${min}.`);
  return value;
}

function readMailLimits(env: Env, complain: Complain): MailLimits {
  const count = (name: string, ordinary: number): number =>
    readCount(name, { env, ordinary, min: 0 }, complain);
  return {
    account: count('SVC_MAIL_PER_ACCOUNT_DAY', MAIL_PER_ACCOUNT_DAY),
    gateway: count('SVC_MAIL_PER_GATEWAY_DAY', MAIL_PER_GATEWAY_DAY),
  };
}

function readLogLevel(env: Env, complain: Complain): string {
  const level = env['SVC_LOG_LEVEL'] || 'info';
  const levels = [...Object.keys(pino.levels.values), 'silent'];
  if (!levels.includes(level)) complain(`SVC_LOG_LEVEL must be one of ${levels.join(', ')}.`);
  return level;
}

function readMetricsToken(env: Env, complain: Complain): string | null {
  const token = env['SVC_METRICS_TOKEN'] ?? '';
  if (token === '') return null;
  if (!METRICS_TOKEN.test(token)) {
    complain('SVC_METRICS_TOKEN must have 16 characters or more, without spaces.');
  }
  return token;
}

/** Warns about settings that are valid but probably a mistake. */
function remarks(
  { publicUrl, settings, signUp, store }: ConfigValues,
  path: string | null,
): string[] {
  const isOpen = path !== null && (statSync(path).mode & 0o004) !== 0;
  return [
    ...(isOpen ? [`${path} can be read by everyone on this machine. Run chmod 600 on it.`] : []),
    ...(publicUrl?.startsWith('http:')
      ? ["SVC_PUBLIC_URL isn't https: keys and links travel unencrypted."]
      : []),
    ...(store ? storeRemarks(store, settings) : []),
    ...mailRemarks(settings.messaging.mail),
    ...(signUp.isOpen && settings.messaging.mail.kind !== 'outbox'
      ? ['SVC_SIGN_UP is open: anyone can create a project here and send mail from your domain.']
      : []),
    ...(settings.callbackAllow.isEmpty
      ? []
      : ['SVC_CALLBACK_ALLOW is set: callbacks may call private addresses.']),
  ];
}

/** Warns about settings that don't suit several gateways, which a database server is for. */
function storeRemarks(store: RemoteStore, { blobs, messaging }: Settings): string[] {
  return [
    ...(isInClear(store) ? ['SVC_DATABASE_URL has no TLS: rows travel unencrypted.'] : []),
    ...(blobs.kind === 'file' && blobs.folder === undefined
      ? [
          "SVC_BLOBS isn't a bucket: files stay in the data folder, where other gateways can't find them.",
        ]
      : []),
    ...(messaging.mail.kind === 'outbox'
      ? ['Mail to people stays in the data folder of the gateway that wrote it.']
      : []),
    ...(messaging.telegram?.mode === 'webhook'
      ? [
          'SVC_TELEGRAM_MODE is webhook: if a tap and its reply reach different gateways, the person is asked to reply again. With `poll`, one gateway takes everything.',
        ]
      : []),
  ];
}

function mailRemarks({ kind, domain, imap, dkim }: MailConfig): string[] {
  const isOutbox = kind === 'outbox';
  return [
    ...(isOutbox
      ? [
          'SVC_SMTP_URL is not set: mail to people stays in the folder `outbox` beside the data. To read it: svc gateway outbox',
        ]
      : []),
    ...(isOutbox && dkim
      ? ['SVC_DKIM_KEY_FILE is set: only mail sent through SVC_SMTP_URL is signed.']
      : []),
    ...(domain !== null && imap === null
      ? ['SVC_IMAP_URL is not set: mail to SVC_MAIL_DOMAIN arrives only over HTTP.']
      : []),
    ...(dkim?.remarks ?? []),
  ];
}

/** Lists secrets as the settings spell them. It omits short ones, because redacting them would spoil every log line. */
function secretsOf(env: Env): string[] {
  const whole = [
    'SVC_TELEGRAM_TOKEN',
    'SVC_METRICS_TOKEN',
    'SVC_DATABASE_TOKEN',
    'SVC_DATABASE_CREATE_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
  ];
  const urls = ['SVC_SMTP_URL', 'SVC_IMAP_URL'].map((name) => env[name] ?? '');
  const passwords = urls.map((url) => parsedUrl(url)?.password ?? '');
  const texts = whole.map((name) => env[name] ?? '');
  return [...texts, ...urls, ...passwords, ...passwords.map(decodeURIComponent)].filter(
    ({ length }) => length >= 6,
  );
}
