import { isObject } from '../../shared/lib/guards.ts';
import type { Additions, CommandContext } from '../command.ts';
import { EXIT } from '../exit.ts';
import { callOperation } from '../operation-command.ts';
import type { OperationShape } from '../operation-shape.ts';
import type { View } from '../view/output.ts';
import { pairLines, type Pair } from '../view/pairs.ts';
import { timeText, type Look } from '../view/table.ts';
import { plainText } from '../view/terminal-text.ts';

export const declaration: Additions = {
  seeAlso: ['key list', 'auth token', 'project list'],
};

/** `svc whoami`: a few lines on a terminal. */
export async function run(context: CommandContext, shape: OperationShape): Promise<number> {
  const answer = await callOperation(shape, context);
  context.output.answer(answer, whoamiView(answer));
  return EXIT.done;
}

/** Who the caller is; an unexpected answer gets the default view. */
function whoamiView(answer: unknown): View {
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
  const { scopes, disk_prefixes: prefixes, expires_at } = key;
  const expires = typeof expires_at === 'string' ? timeText(expires_at, now) : 'never';
  return [
    ['Key', `${text(key['name'])} (${text(key['id'])})`],
    ['Scopes', Array.isArray(scopes) ? scopes.map(text).join(', ') : '–'],
    ...(Array.isArray(prefixes) ? [['Disk', `only ${prefixes.map(text).join(', ')}`] as Pair] : []),
    ['Expires', expires],
  ];
}

/** `billing-bot on claude-code, from header` */
function agentText({ label, platform, source }: Record<string, unknown>): string {
  if (source === 'none') return 'not named';
  const name = label === null ? 'unnamed' : text(label);
  return `${name} on ${text(platform)}, from ${text(source).replaceAll('_', ' ')}`;
}

function text(value: unknown): string {
  return plainText(value ?? '–');
}
