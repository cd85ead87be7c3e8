import { askStatus } from '../../daemon/probe.ts';
import type { CommandContext } from '../command.ts';

/** Says that a mail lies in the outbox of this machine, where it does. `what` begins the sentence. */
export async function tellOutbox(context: CommandContext, what: string): Promise<void> {
  const { client, home, options, output } = context;
  // With --json nobody reads notes, and a gateway keeps its outbox to itself.
  if (options['json'] === true || client().gateway) return;
  const status = await askStatus(home.socketPath);
  if (status?.people?.mail !== 'outbox') return;
  output.note(`${what} is in the outbox of this machine. See it with: svc outbox open`);
}
