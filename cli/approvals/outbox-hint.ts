import { askStatus } from '../../daemon/probe.ts';
import { profileOf } from '../../daemon/credentials.ts';
import type { CommandContext } from '../command.ts';
import { textOption } from '../input/option-values.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { WHY_HERE, WHY_NOT_HERE } from '../view/outbox.ts';

const ASK_MS = 5000;

/** Tells the user if a question or mail was kept: in this machine's outbox, or at the gateway. */
export async function tellOutbox(
  context: CommandContext,
  what: 'The question' | 'The mail',
  how: 'list' | 'open' | 'show' = 'open',
): Promise<void> {
  const { client, home, options, output } = context;
  // With --json nobody reads notes.
  if (options['json'] === true) return;
  const status = client().gateway ? null : await askStatus(home.socketPath);
  const aim = what === 'The question' ? 'To decide' : 'To read it';
  if (status?.people) {
    if (status.people.mail !== 'outbox') return;
    output.note(
      `${what} is saved here, not mailed: no mail server is set. ${aim}: svc outbox ${how}`,
    );
  } else if (await keepsMail(context)) {
    output.note(
      `${what} isn't sent: the gateway has no mail server. ${aim}, on its host: svc gateway outbox`,
    );
  }
}

/** Whether the gateway has no mail server; false if it doesn't say. */
async function keepsMail({ client, signal }: CommandContext): Promise<boolean> {
  const options = { signal, timeoutMs: ASK_MS, isOptional: true } as const;
  const known = await client()
    .call('whoami', {}, options)
    .catch(() => null);
  return known?.server?.mail === 'kept';
}

/** Why this machine's outbox may be empty: a gateway sends its projects' messages itself. */
export function whyEmpty(context: CommandContext): string {
  const { env, home } = context;
  const stored = storedProfiles(home.credentialsFile);
  const profile = profileOf(stored, textOption(context, 'profile') ?? stored.current);
  return env['SVC_GATEWAY'] || profile?.gateway ? WHY_NOT_HERE : WHY_HERE;
}
