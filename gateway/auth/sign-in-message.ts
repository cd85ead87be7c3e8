import { isoTime } from '../../shared/lib/clock.ts';
import type { MessageText } from '../mail/messages.ts';
import { named, oneLine } from '../mail/plain-text.ts';
import type { LoginView } from './login-service.ts';

const NAME_CHARS_MAX = 80;
const AGENT_CHARS_MAX = 160;
const COLUMN = 10;

/** Text that mail programs turn into a link: web and mail addresses, but not version numbers. */
const LINKED = /:\/\/|[.\u3002\uff0e\uff61](?=[\p{L}\p{M}])|@/gu;

/**
 * Asks the owner of a mailbox whether they are signing in. A stranger's text is in quotes, and no mail program turns
 * it into a link, because our mail must lead only to our page.
 */
export function signInMessage(login: LoginView, url: string): MessageText {
  const { client, userCode, createdAt } = login;
  const program = [client.name, client.version].filter((part) => part !== null).join(' ');
  const facts = [
    ['Code', userCode],
    ...(program === '' ? [] : [['Program', unlinked(program, NAME_CHARS_MAX)]]),
    ...(client.host === null ? [] : [['Computer', unlinked(client.host, NAME_CHARS_MAX)]]),
    ['Address', oneLine(client.address, NAME_CHARS_MAX)],
    ...(client.userAgent === null
      ? []
      : [['Browser', unlinked(client.userAgent, AGENT_CHARS_MAX)]]),
    ['Started', `${isoTime(createdAt).slice(0, 16).replace('T', ' ')} UTC`],
  ];
  return {
    subject: `svc: confirm sign-in ${userCode}`,
    text: `Someone wants to sign in to svc with this address.

${facts.map(([name = '', value = '']) => `${`${name}:`.padEnd(COLUMN)}${value}`).join('\n')}

Confirm on this page, and only if your terminal shows the same code:

${url}

Opening the page confirms nothing; its button does. The link works for 15
minutes. Anyone with it can sign in as you, so don't forward this email.

Wasn't you? Say so on the page, or do nothing. We don't read replies.
`,
  };
}

/** Quotes text, and puts brackets around characters that start or join the parts of a link. */
function unlinked(text: string, maxChars: number): string {
  return named(text, maxChars).replaceAll(LINKED, '[$&]');
}
