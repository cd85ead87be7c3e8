import type { OutboxMessage } from '../../shared/host/outbox.ts';
import type { View } from './output.ts';
import { pairLines, type Pair } from './pairs.ts';
import { sizeText } from './sizes.ts';
import { timeText } from './table.ts';
import { safeText } from './terminal-text.ts';

/** Why mail is saved here instead of sent. */
export const WHY_HERE = 'Without SVC_SMTP_URL the daemon saves mail here instead of sending it.';

/** Why mail from a gateway's project isn't here. */
export const WHY_NOT_HERE =
  "This project's gateway sends its mail. A gateway without a mail server saves it on its own host: svc gateway outbox shows it there.";

/** A message as its recipient would see it. */
export function messageView(message: OutboxMessage): View {
  const { from, to, cc, deliveredTo, sentAt, subject, text, attachments } = message;
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
          ...(cc === '' ? [] : [['Cc', cc] as const]),
          ...(deliveredTo === null ? [] : [['Copy for', deliveredTo] as const]),
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
