import { expect, it } from 'vitest';
import { chosenSender } from '../../cli/input/sender-choice.ts';

/** What a person is shown who types these lines, and what they get. */
async function asked(...answers: string[]): Promise<{ chosen: string; shown: string }> {
  const shown: string[] = [];
  const chosen = await chosenSender({
    ask: () => Promise.resolve(answers.shift() ?? ''),
    show: (lines) => void shown.push(...lines),
    close: () => undefined,
  });
  return { chosen, shown: shown.join('\n') };
}

it.each([
  [['slack'], 'slack'],
  [['Shopi'], 'shopify'],
  [['git', 'gitlab'], 'gitlab'],
  [['acme', 'hmac'], 'hmac_sha256'],
  [['whatsapp', 'meta'], 'meta'],
  [[''], 'none'],
])(
  'source add without a sender offers the list with a search: %j chooses %s',
  async (typed, name) => {
    expect((await asked(...typed)).chosen).toBe(name);
  },
);

it('shows the senders that fit, and says when none does', async () => {
  const { shown } = await asked('git', 'acme', '');
  expect(shown).toContain('  gitlab     GitLab');
  expect(shown).toContain('  bitbucket  Bitbucket');
  expect(shown).toContain('svc knows no such sender.');
});
