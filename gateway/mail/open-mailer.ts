import type { Clock } from '../../shared/lib/clock.ts';
import type { MailConfig } from './mail-config.ts';
import type { Mailer } from './mailer.ts';
import { OutboxMailer } from './outbox-mailer.ts';
import { SmtpMailer } from './smtp-mailer.ts';

/** Opens the configured mailer. Mail in the outbox isn't signed. */
export async function openMailer(
  config: MailConfig,
  { outboxFolder, clock }: { readonly outboxFolder: string; readonly clock: Clock },
): Promise<Mailer> {
  if (config.kind === 'smtp') return SmtpMailer.open({ place: config, clock, dkim: config.dkim });
  return new OutboxMailer({ folder: outboxFolder, clock });
}
