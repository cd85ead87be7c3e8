import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsedMail } from '../gateway/mail/parsed-mail.ts';

const PATIENCE_MS = 60_000;

/** The mails of a gateway's outbox, oldest first. */
export function mailsOf(dataFolder: string): string[] {
  const folder = join(dataFolder, 'outbox');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .toSorted()
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

/** What a link in a mail is for: `a` decides, `c` confirms an address, `s` a sign-in, `ui/sign-in` opens the web inbox, `ui/join` is an invitation. */
type LinkKind = 'a' | 'c' | 's' | 'ui/sign-in' | 'ui/join';

/** The tokens of all links in mails so far. */
export function tokensOf(dataFolder: string, kind: LinkKind): string[] {
  const link = new RegExp(`/${kind}/([0-9a-zA-Z]{32,40})`, 'g');
  return mailsOf(dataFolder).flatMap((mail) =>
    // A long line may break a link in two.
    [...parsedMail(mail).text.matchAll(link)].map((found) => found[1] ?? ''),
  );
}

/** Waits until this many links have come, and returns the newest. */
export async function linkToken(
  dataFolder: string,
  kind: LinkKind = 'a',
  count = 1,
): Promise<string> {
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const tokens = tokensOf(dataFolder, kind);
    if (tokens.length >= count) return tokens.at(-1) ?? '';
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`Only ${tokensOf(dataFolder, kind).length} links of ${count} came.`);
}
