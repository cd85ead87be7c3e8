import { isObject } from '../../shared/untyped.ts';
import type { View } from './output.ts';
import { pairLines, type Pair } from './pairs.ts';
import { timeText, type Look } from './table.ts';
import { plainText } from './terminal-text.ts';

/** Who one is, for a person; an answer of another form is shown as any other. */
export function whoamiView(answer: unknown): View {
  if (!isObject(answer)) return {};
  const { project, key, agent, urls } = answer;
  if (!isObject(project) || !isObject(key) || !isObject(agent) || !isObject(urls)) return {};
  return {
    lines: (look) =>
      pairLines(
        [
          ['Project', `${text(project['name'])} (${text(project['id'])})`],
          ...keyPairs(key, look),
          ['Agent', agentText(agent)],
          ['API', text(urls['api'])],
          ['MCP', text(urls['mcp'])],
          ['Webhooks', `${text(urls['hooks'])}/w/…`],
        ],
        look,
      ),
  };
}

function keyPairs(key: Record<string, unknown>, { now }: Look): Pair[] {
  const { scopes, expires_at } = key;
  const expires = typeof expires_at === 'string' ? timeText(expires_at, now) : 'never';
  return [
    ['Key', `${text(key['name'])} (${text(key['id'])})`],
    ['Scopes', Array.isArray(scopes) ? scopes.map(text).join(', ') : '–'],
    ['Expires', expires],
  ];
}

/** `billing-bot on claude-code, told by header` */
function agentText({ label, platform, source }: Record<string, unknown>): string {
  if (source === 'none') return 'not named';
  const name = label === null ? 'unnamed' : text(label);
  return `${name} on ${text(platform)}, told by ${text(source).replaceAll('_', ' ')}`;
}

function text(value: unknown): string {
  return plainText(value ?? '–');
}
