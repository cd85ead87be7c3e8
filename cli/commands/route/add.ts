import type { Answer } from '../../call/answers.ts';
import type { Additions } from '../../command.ts';
import { matchText } from '../../approvals/routes.ts';
import { showingSecret } from '../../approvals/shown-once.ts';
import type { View } from '../../view/output.ts';
import { safeLine } from '../../view/terminal-text.ts';
import { pairLines } from '../../view/pairs.ts';

export const declaration: Additions = {
  seeAlso: ['route test', 'route attempts', 'listen'],
};

export const run = showingSecret<'route_add'>(routeAddedView);

/** A new route with its secret. */
function routeAddedView(answer: Answer<'route_add'>): View {
  const { id, callback_url: url, secret } = answer;
  return {
    lines: (look) => [
      look.bold(safeLine(`${matchText(answer)} go to ${url}`)),
      '',
      ...pairLines(
        [
          ['Route', id],
          ['Secret', secret],
        ],
        look,
        '  ',
      ),
      '',
      look.yellow("You won't see the secret again: store it where the receiver checks signatures."),
      `Test it with: svc route test ${safeLine(id)}`,
    ],
  };
}
