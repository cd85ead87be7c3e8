import type { MessageText } from '../../../mail/messages.ts';
import { oneLine } from '../../../mail/plain-text.ts';

const ADDRESS_CHARS_MAX = 80;

/** The mail with the link that opens the web inbox as the owner, for the reader of that address. */
export function inboxSignInMessage(url: string, from: string): MessageText {
  return {
    subject: 'svc: open your inbox',
    text: `Someone wants to open the svc inbox with this address.

Address:  ${oneLine(from, ADDRESS_CHARS_MAX)}

Open it with the button on this page, in the browser that you want to use:

${url}

Opening the page signs nobody in; its button does. The link works for 15
minutes, once. Anyone with it can decide as you, so don't forward this email.

Wasn't you? Do nothing. We don't read replies.
`,
  };
}
