import { askStatus } from '../../daemon/probe.ts';
import { profileOf } from '../../daemon/credentials.ts';
import type { CommandContext } from '../command.ts';
import { textOption } from '../input/option-values.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { WHY_HERE, WHY_NOT_HERE } from '../view/outbox.ts';

/** Tells the user if a question or mail went to this machine's outbox. */
export async function tellOutbox(
  context: CommandContext,
  what: 'The question' | 'The mail',
  how: 'list' | 'open' | 'show' = 'open',
): Promise<void> {
  const { client, home, options, output } = context;
  // With --json nobody reads notes, and a gateway doesn't share its outbox.
  if (options['json'] === true || client().gateway) return;
  const status = await askStatus(home.socketPath);
  if (status?.people?.mail !== 'outbox') return;
  const aim = what === 'The question' ? 'To decide' : 'To read it';
  output.note(
    `${what} is saved here, not mailed: no mail server is set. ${aim}: svc outbox ${how}`,
  );
}

/** Why this machine's outbox may be empty: a gateway sends its projects' messages itself. */
export function whyEmpty(context: CommandContext): string {
  const { env, home } = context;
  const stored = storedProfiles(home.credentialsFile);
  const profile = profileOf(stored, textOption(context, 'profile') ?? stored.current);
  return env['SVC_GATEWAY'] || profile?.gateway ? WHY_NOT_HERE : WHY_HERE;
}
