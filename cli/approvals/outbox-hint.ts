import { askStatus } from '../../daemon/probe.ts';
import { profileOf } from '../../daemon/credentials.ts';
import type { CommandContext } from '../command.ts';
import { textOption } from '../input/option-values.ts';
import { storedProfiles } from '../signin/profiles.ts';
import { WHY_HERE, WHY_NOT_HERE } from '../view/outbox.ts';

/** Says that a mail lies in the outbox of this machine, where it does. `what` begins the sentence. */
export async function tellOutbox(
  context: CommandContext,
  what: string,
  how: 'list' | 'open' | 'show' = 'open',
): Promise<void> {
  const { client, home, options, output } = context;
  // With --json nobody reads notes, and a gateway keeps its outbox to itself.
  if (options['json'] === true || client().gateway) return;
  const status = await askStatus(home.socketPath);
  if (status?.people?.mail !== 'outbox') return;
  output.note(
    `${what} is saved here, not mailed: no mail server is set. To read it: svc outbox ${how}`,
  );
}

/** Why the outbox of this machine may be empty: a gateway sends the messages of its projects itself. */
export function whyEmpty(context: CommandContext): string {
  const { env, home } = context;
  const stored = storedProfiles(home.credentialsFile);
  const profile = profileOf(stored, textOption(context, 'profile') ?? stored.current);
  return env['SVC_GATEWAY'] || profile?.gateway ? WHY_NOT_HERE : WHY_HERE;
}
