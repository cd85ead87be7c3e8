import type { OutboxMessage } from '../../daemon/outbox.ts';
import type { View } from './output.ts';
import { pairLines, type Pair } from './pairs.ts';
import { sizeText } from './sizes.ts';
import { timeText } from './table.ts';
import { safeText } from './terminal-text.ts';

/** Why mail is here and not with its readers. */
export const WHY_HERE =
  'Mail is kept here, and not sent, while the daemon runs without SVC_SMTP_URL.';

/** Why mail of a gateway's project is not here. */
export const WHY_NOT_HERE =
  'Mail of this project is sent by its gateway. One without a mail server keeps it in the folder outbox of its data, on its host.';

/** An outbox with nothing in it, and why. */
export function emptyView(why: string): View {
  return { lines: () => ['The outbox of this machine is empty.', why] };
}

/** A message as its reader would see it. */
export function messageView(message: OutboxMessage): View {
  const { from, to, sentAt, subject, text, attachments } = message;
  const files = attachments.map(({ name, size_bytes }): Pair => [
    'Attached',
    `${name} (${sizeText(size_bytes)})`,
  ]);
  return {
    lines: (look) => [
      ...pairLines(
        [
          ['From', from],
          ['To', to],
          ['Date', timeText(sentAt, look.now)],
          ['Subject', subject],
          ...files,
        ],
        look,
      ),
      '',
      ...safeText(text).trimEnd().split('\n'),
    ],
  };
}
