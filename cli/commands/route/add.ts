import { isObject } from '../../../shared/lib/guards.ts';
import type { Additions } from '../../command.ts';
import { matchText } from '../../approvals/routes.ts';
import { showingSecret } from '../../approvals/shown-once.ts';
import type { View } from '../../view/output.ts';
import { plainText, safeLine } from '../../view/terminal-text.ts';
import { pairLines } from '../../view/pairs.ts';

export const declaration: Additions = {
  seeAlso: ['route test', 'route attempts', 'listen'],
};

export const run = showingSecret(routeAddedView);

/** A new route with its secret. */
function routeAddedView(answer: unknown): View {
  if (!isObject(answer) || typeof answer['secret'] !== 'string') return {};
  const { id, callback_url: url, secret } = answer;
  return {
    lines: (look) => [
      look.bold(safeLine(`${matchText(answer)} go to ${plainText(url)}`)),
      '',
      ...pairLines(
        [
          ['Route', plainText(id)],
          ['Secret', secret],
        ],
        look,
        '  ',
      ),
      '',
      look.yellow("You won't see the secret again: store it where the receiver checks signatures."),
      `Test it with: svc route test ${safeLine(plainText(id))}`,
    ],
  };
}
