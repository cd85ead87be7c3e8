import type { OutboxLetter } from '../../daemon/outbox.ts';
import type { View } from './output.ts';
import { pairLines } from './pairs.ts';
import { timeText } from './table.ts';
import { safeText } from './terminal-text.ts';

/** Why letters are here and not in the mail of their readers. */
export const WHY_HERE =
  'Letters to people are kept here, and not sent, while the daemon runs without SVC_SMTP_URL.';

/** An outbox with nothing in it. */
export const emptyView: View = { lines: () => ['The outbox is empty.', WHY_HERE] };

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
