import type { Answer } from '../call/answers.ts';
import type { Additions } from '../command.ts';
import { showing } from '../call/operation-command.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { timeText, type Look } from '../view/table.ts';

export const declaration: Additions = {
  seeAlso: ['key list', 'auth token', 'project list'],
};

/** `svc whoami`: a few lines on a terminal. */
export const run = showing<'whoami'>(whoamiView);

function whoamiView({ project, key, agent, urls }: Answer<'whoami'>): View {
  return {
    lines: (look) =>
      pairLines(
        [
          ['Project', `${project.name} (${project.id})`],
          ...keyPairs(key, look),
          ['Agent', agentText(agent)],
          ['API', urls.api],
          ['MCP', urls.mcp],
          ['Webhooks', `${urls.hooks}/w/…`],
        ],
        look,
      ),
  };
}

function keyPairs(key: Answer<'whoami'>['key'], { now }: Look): Pair[] {
  const { scopes, disk_prefixes: prefixes, expires_at } = key;
  return [
    ['Key', `${key.name} (${key.id})`],
    ['Scopes', scopes.join(', ')],
    ...(prefixes ? [['Disk', `only ${prefixes.join(', ')}`] as const] : []),
    ['Expires', expires_at === null ? 'never' : timeText(expires_at, now)],
  ];
}

/** `billing-bot on claude-code, from header` */
function agentText({ label, platform, source }: Answer<'whoami'>['agent']): string {
  if (source === 'none') return 'not named';
  return `${label ?? 'unnamed'} on ${platform}, from ${source.replaceAll('_', ' ')}`;
}
