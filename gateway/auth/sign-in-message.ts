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
  const { client, createdAt } = login;
  const program = [client.name, client.version].filter((part) => part !== null).join(' ');
  const facts = [
    ...(program === '' ? [] : [['Program', unlinked(program, NAME_CHARS_MAX)]]),
    ...(client.host === null ? [] : [['Computer', unlinked(client.host, NAME_CHARS_MAX)]]),
    ['Address', oneLine(client.address, NAME_CHARS_MAX)],
    ...(client.userAgent === null
      ? []
      : [['Browser', unlinked(client.userAgent, AGENT_CHARS_MAX)]]),
    ['Started', `${isoTime(createdAt).slice(0, 16).replace('T', ' ')} UTC`],
  ];
  return {
    subject: 'svc: confirm your sign-in',
    text: `Someone wants to sign in to svc with this address.

${facts.map(([name = '', value = '']) => `${`${name}:`.padEnd(COLUMN)}${value}`).join('\n')}

If that's you, type the code from your terminal on this page:

${url}

Opening the page confirms nothing. The link works for 15 minutes. Never type
a code that somebody sent you, and don't forward this email.

Wasn't you? Say so on the page, or do nothing. We don't read replies.
`,
  };
}

/** Tells a person that they may sign up here. */
export function invitationMessage({
  email,
  publicUrl,
}: {
  readonly email: string;
  readonly publicUrl: string;
}): MessageText {
  const { host } = new URL(publicUrl);
  return {
    subject: `svc: you're invited to ${host}`,
    text: `You can now create a project on the svc gateway at ${host}.
With svc installed, sign in from a terminal:

  svc login --gateway ${publicUrl} --email ${email}

If you don't know what this is, ignore this mail. We don't read replies.
`,
  };
}

/** Tells the owner of a mailbox why they can't sign in. It has no link, so a stranger gains nothing by asking for it. */
export function notAdmittedMessage(
  admission: 'other_spelling' | 'by_invitation',
  { email, publicUrl }: { readonly email: string; readonly publicUrl: string },
): MessageText {
  const { subject, text } = REFUSALS[admission];
  const host = new URL(publicUrl).host;
  return {
    subject: subject(host),
    text: `Someone, perhaps you, tried to sign in to svc at ${host} as
${email}.

${text(email)}

Wasn't you? Do nothing: nobody was signed in. We don't read replies.
`,
  };
}

interface RefusalWords {
  readonly subject: (host: string) => string;
  readonly text: (email: string) => string;
}

const REFUSALS: Readonly<Record<'other_spelling' | 'by_invitation', RefusalWords>> = {
  other_spelling: {
    subject: () => 'svc: use the other spelling of your address',
    text: () =>
      `This mailbox already has an account, under another spelling of the address.
Sign in with that one, perhaps without the part after the plus sign.`,
  },
  by_invitation: {
    subject: (host) => `svc: ${host} is by invitation`,
    text: (email) => `You need an invitation first. Ask whoever runs this gateway to run:

  svc gateway invite ${email}`,
  },
};

/** Quotes text, and puts brackets around characters that start or join the parts of a link. */
function unlinked(text: string, maxChars: number): string {
  return named(text, maxChars).replaceAll(LINKED, '[$&]');
}
