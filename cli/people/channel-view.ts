import { isObject } from '../../shared/untyped.ts';
import type { View } from '../view/output.ts';
import { age } from '../view/table.ts';
import { plainText, safeLine } from '../view/terminal-text.ts';

/** A new channel, and what happens next. */
export function channelAddedView(answer: unknown): View {
  if (!isObject(answer) || !isObject(answer['channel'])) return {};
  const { channel, start_url: url, verification_sent_to: address, expires_at: expires } = answer;
  const { id, label } = channel;
  return {
    lines: (look) => {
      const ends = typeof expires === 'string' ? ` It ends ${age(expires, look.now)}.` : '';
      const first =
        url === undefined
          ? [
              `1. A mail with a link is on its way to ${plainText(address)}: open it and confirm.${ends}`,
            ]
          : [
              `1. Open this link on the telephone of the person, and tap Start.${ends}`,
              '',
              `   ${plainText(url)}`,
              '',
            ];
      return [
        look.bold(safeLine(`${plainText(label)} is added, and not asked yet:`)),
        ...first.map(safeLine),
        '2. The owner is asked to let the channel in.',
        '3. Then it is active. See how far it is with: svc channel list',
        look.faint(`   ${safeLine(plainText(id))}`),
      ];
    },
  };
}

/** A channel that is gone. */
export function channelRemovedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['id'] !== 'string') return {};
  const { id } = answer;
  return {
    lines: () => [
      safeLine(
        `Removed ${id}. Its links and buttons no longer work; what waited for it alone is the owner's.`,
      ),
    ],
  };
}
