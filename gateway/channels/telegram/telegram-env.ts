import { parsedUrl } from '../../../shared/lib/urls.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The Telegram bot in the environment's settings. */
export interface TelegramSettings {
  readonly token: string;
  /** The Bot API's scheme, host and path, without a trailing slash. */
  readonly apiRoot: string;
  readonly mode: 'poll' | 'webhook';
}

const API_ROOT = 'https://api.telegram.org';
/** As BotFather shows it. */
const TOKEN = /^\d{1,20}:[A-Za-z0-9_-]{8,128}$/;

/**
 * Reads SVC_TELEGRAM_TOKEN, SVC_TELEGRAM_API_ROOT and SVC_TELEGRAM_MODE: null without a token, or the problems. Problems
 * name settings but show no values, because one is a secret.
 */
export function readTelegramSettings(
  env: Env,
): TelegramSettings | null | { readonly problems: readonly string[] } {
  const token = env['SVC_TELEGRAM_TOKEN'] ?? '';
  const apiRoot = env['SVC_TELEGRAM_API_ROOT'] || API_ROOT;
  // A local machine has no address that Telegram could deliver updates to.
  const mode = env['SVC_TELEGRAM_MODE'] || 'poll';
  const problems: string[] = [];
  if (token !== '' && !TOKEN.test(token)) {
    problems.push("SVC_TELEGRAM_TOKEN isn't a bot token such as `123456:ABC-def…`.");
  }
  if (!isApiRoot(apiRoot)) {
    problems.push("SVC_TELEGRAM_API_ROOT isn't a URL such as `https://api.telegram.org`.");
  }
  if (mode !== 'poll' && mode !== 'webhook') {
    problems.push('SVC_TELEGRAM_MODE must be `poll` or `webhook`.');
  } else if (problems.length === 0) {
    return token === '' ? null : { token, apiRoot: apiRoot.replace(/\/+$/, ''), mode };
  }
  return { problems };
}

function isApiRoot(text: string): boolean {
  const url = /^https?:\/\//i.test(text) ? parsedUrl(text) : null;
  if (!url) return false;
  const { username, password, search, hash } = url;
  return username === '' && password === '' && search === '' && hash === '';
}
