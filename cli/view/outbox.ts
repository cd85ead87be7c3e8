import type { OutboxLetter } from '../../daemon/outbox.ts';
import type { View } from './output.ts';
import { pairLines } from './pairs.ts';
import { timeText } from './table.ts';
import { safeText } from './terminal-text.ts';

/** Why letters are here and not in the mail of their readers. */
export const WHY_HERE =
  'Letters to people are kept here, and not sent, while the daemon runs without SVC_SMTP_URL.';

/** Why letters of a gateway's project are not here. */
export const WHY_NOT_HERE =
  'Letters of this project are sent by its gateway. One without a mail server keeps them in the folder outbox of its data, on its host.';

/** An outbox with nothing in it, and why. */
export function emptyView(why: string): View {
  return { lines: () => ['The outbox of this machine is empty.', why] };
}

/** A letter as its reader would see it. */
export function letterView({ from, to, sentAt, subject, text }: OutboxLetter): View {
  return {
    lines: (look) => [
      ...pairLines(
        [
          ['From', from],
          ['To', to],
          ['Date', timeText(sentAt, look.now)],
          ['Subject', subject],
        ],
        look,
      ),
      '',
      ...safeText(text).trimEnd().split('\n'),
    ],
  };
}
