import type { Answer } from '../call/answers.ts';
import type { CommandContext } from '../command.ts';
import { triggerLine } from '../samples/trigger-line.ts';
import { storedProfiles } from '../signin/profiles.ts';

/** What a project has already, as far as the key may read it. */
interface Progress {
  /** One for webhooks if there is any, otherwise one for mail. */
  readonly source: Answer<'source_list'>['items'][number] | null;
  readonly hasEvents: boolean;
  readonly hasPending: boolean;
  readonly hasRequests: boolean;
  /** Whether `svc mcp install` has set up a client. */
  readonly hasClient: boolean;
}

const WITHIN_MS = 2000;

/** The commands to try next, without those whose work is done. */
export async function nextSteps(context: CommandContext): Promise<string[]> {
  return stepsAfter(await progressOf(context));
}

/** Whatever can't be read counts as missing: its command is suggested. */
async function progressOf({ client, home, signal }: CommandContext): Promise<Progress> {
  const { call } = client();
  const options = { signal, timeoutMs: WITHIN_MS };
  const [sources, pending, requests] = await Promise.all([
    itemsOf(call('source_list', {}, options)),
    itemsOf(call('inbox_list', { limit: 1 }, options)),
    itemsOf(call('request_list', { limit: 1 }, options)),
  ]);
  return {
    source: sources.find(({ type }) => type === 'webhook') ?? sources[0] ?? null,
    hasEvents: pending.length > 0 || sources.some(({ last_event_at: at }) => at !== null),
    hasPending: pending.length > 0,
    hasRequests: requests.length > 0,
    hasClient: isClientStored(home.credentialsFile),
  };
}

function itemsOf<T>(list: Promise<{ readonly items: readonly T[] }>): Promise<readonly T[]> {
  return list.then(({ items }) => items).catch(() => []);
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
    ...(hasPending ? ["svc inbox work --exec 'echo $SVC_EVENT_TYPE' --max 1"] : []),
    ...(hasRequests ? [] : ['svc ask approval deploy "Deploy v2" && echo deployed']),
    ...(hasClient ? [] : ['svc mcp install claude-code']),
    'svc open',
  ].slice(0, 4);
}
