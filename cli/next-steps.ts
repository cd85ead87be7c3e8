import { isObject } from '../shared/lib/guards.ts';
import type { CommandContext } from './command.ts';
import { triggerLine } from './samples/trigger-line.ts';
import { storedProfiles } from './signin/profiles.ts';

/** What a project has already, as far as the key may read it. */
interface Progress {
  /** One for webhooks if there is any, otherwise one for mail. */
  readonly source: Fields | null;
  readonly hasEvents: boolean;
  readonly hasPending: boolean;
  readonly hasRequests: boolean;
  /** Whether `svc mcp install` has set up a client. */
  readonly hasClient: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const WITHIN_MS = 2000;

/** The commands to try next, without those whose work is done. */
export async function nextSteps(context: CommandContext): Promise<string[]> {
  return stepsAfter(await progressOf(context));
}

/** Whatever can't be read counts as missing: its command is suggested. */
async function progressOf({ client, home, signal }: CommandContext): Promise<Progress> {
  const itemsOf = async (path: string, query: Record<string, string>): Promise<Fields[]> => {
    try {
      const answer = await client().call('GET', path, { query, signal, timeoutMs: WITHIN_MS });
      const items: unknown = isObject(answer) ? answer['items'] : null;
      return Array.isArray(items) ? items.filter(isObject) : [];
    } catch {
      return [];
    }
  };
  const one = { limit: '1' };
  const [sources, pending, requests] = await Promise.all([
    itemsOf('/v1/sources', {}),
    itemsOf('/v1/inbox', one),
    itemsOf('/v1/requests', one),
  ]);
  return {
    source: sources.find(({ type }) => type === 'webhook') ?? sources[0] ?? null,
    hasEvents: pending.length > 0 || sources.some(({ last_event_at: at }) => at !== null),
    hasPending: pending.length > 0,
    hasRequests: requests.length > 0,
    hasClient: isClientStored(home.credentialsFile),
  };
}

function isClientStored(file: string): boolean {
  try {
    return Object.values(storedProfiles(file).profiles).some((one) => one.client !== undefined);
  } catch {
    return false;
  }
}

const FIRST_SOURCE = 'svc source add github --verification github';
const FIRST_TRIGGER = 'svc trigger github.pull_request.opened';

/** At most four. */
function stepsAfter({ source, hasEvents, hasPending, hasRequests, hasClient }: Progress): string[] {
  return [
    ...(source ? [] : [FIRST_SOURCE]),
    ...(hasEvents ? [] : [source ? triggerLine(source) : FIRST_TRIGGER, 'svc inbox wait']),
    ...(hasPending ? ["svc inbox work --exec 'jq -r .type' --max 1"] : []),
    ...(hasRequests ? [] : ['svc ask approval deploy "Deploy v2" && echo deployed']),
    ...(hasClient ? [] : ['svc mcp install claude-code']),
    'svc open',
  ].slice(0, 4);
}
