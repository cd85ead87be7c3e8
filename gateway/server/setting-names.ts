import { nearest } from '../../shared/lib/suggest.ts';

/** Every setting of the hosted process. */
export const SETTINGS: readonly string[] = [
  'SVC_BLOBS',
  'SVC_CALLBACK_ALLOW',
  'SVC_CONFIG',
  'SVC_CONTENT_URL',
  'SVC_DATA',
  'SVC_DATABASE_CREATE_TOKEN',
  'SVC_DATABASE_CREATE_URL',
  'SVC_DATABASE_TOKEN',
  'SVC_DATABASE_URL',
  'SVC_DKIM_KEY_FILE',
  'SVC_DKIM_SELECTOR',
  'SVC_DISK_RESERVE_MB',
  'SVC_DNS_SERVERS',
  'SVC_HOOKS_URL',
  'SVC_IMAP_URL',
  'SVC_LISTEN',
  'SVC_LOG_LEVEL',
  'SVC_MAIL_DOMAIN',
  'SVC_MAIL_FROM',
  'SVC_MAIL_PER_ACCOUNT_DAY',
  'SVC_MAIL_PER_GATEWAY_DAY',
  'SVC_MASTER_KEY_FILE',
  'SVC_METRICS_TOKEN',
  'SVC_OPEN_PROJECTS',
  'SVC_PROJECT_EVENTS_MB',
  'SVC_PUBLIC_URL',
  'SVC_RATE_LIMIT',
  'SVC_REPLICA_LOG_MB',
  'SVC_SIGN_UP',
  'SVC_SMTP_URL',
  'SVC_SOURCE_EVENTS_MB',
  'SVC_SOURCE_EVENTS_PER_MINUTE',
  'SVC_SOURCE_MB_PER_TEN_MINUTES',
  'SVC_TELEGRAM_API_ROOT',
  'SVC_TELEGRAM_MODE',
  'SVC_TELEGRAM_TOKEN',
  'SVC_TRUSTED_PROXIES',
];
/** Settings of a bucket, with the names that all S3 programs read. */
const BUCKET_SETTINGS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
/** Names that other parts of svc read or pass to commands; they may be set in this process's environment. */
const ELSEWHERE = /^SVC_(?:AGENT|API_KEY|GATEWAY|HOME|WEBHOOK_SECRET|EVENT_\w+|LEASE_ID|TEST_\w+)$/;

/** Returns a sentence for each unknown name, with the setting that was probably meant. */
export function unknownSettings(environment: readonly string[], file: readonly string[]): string[] {
  const known = new Set(SETTINGS);
  const stray = environment.filter(
    (name) => name.startsWith('SVC_') && !known.has(name) && !ELSEWHERE.test(name),
  );
  const strayInFile = file.filter((name) => !known.has(name) && !BUCKET_SETTINGS.includes(name));
  return [...new Set([...strayInFile, ...stray])].map((name) => {
    const meant = nearest(name, SETTINGS);
    return `${name} isn't a setting of the gateway.${meant === null ? '' : ` Did you mean ${meant}?`}`;
  });
}
