import type { Clock } from '../../../../shared/lib/clock.ts';
import { ServiceError } from '../../../../shared/lib/errors.ts';
import { newId } from '../../../../shared/lib/ids.ts';
import type { OutgoingMail } from '../../../mail/mailer.ts';
import type { SendResult } from '../../../lib/send-result.ts';
import { StartLimit } from '../../../auth/start-limit.ts';
import { within } from '../../../auth/within.ts';
import { inboxSignInMessage } from './sign-in-message.ts';
import type { Sessions } from './sessions.ts';

const MAIL_DEADLINE_MS = 10_000;

interface OwnerSignInDeps {
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** The base URL of links in mails. */
  readonly publicUrl: string;
  readonly mail: (mail: Omit<OutgoingMail, 'from'>) => Promise<SendResult>;
  /** Reports why a mail couldn't be sent. */
  readonly onTrouble: (reason: string) => void;
}

/** Mails the link that opens the web inbox as the owner. */
export class OwnerSignIn {
  readonly #deps: OwnerSignInDeps;
  readonly #starts = new StartLimit();

  constructor(deps: OwnerSignInDeps) {
    this.#deps = deps;
  }

  /** Behaves the same whether or not the address is an owner's. RATE_LIMITED, EMAIL_DELIVERY_FAILED. */
  async start(email: string, from: string): Promise<void> {
    const { clock, mail, onTrouble, publicUrl, sessions } = this.#deps;
    const now = clock.now();
    // Strangers at the same address, as behind a proxy that isn't trusted, don't keep out those who are known there.
    if (!(await sessions.isKnown(email, from))) this.#starts.take(from, now);
    const token = await sessions.linkForOwner(email, from);
    const message = inboxSignInMessage(`${publicUrl}/ui/sign-in/${token}`, from);
    const handing = mail({ id: newId('ntc', now), to: email, ...message });
    const sent = await within(MAIL_DEADLINE_MS, handing);
    if (sent?.outcome === 'sent') return;
    if (sent) await sessions.drop(token);
    onTrouble(sent?.reason ?? 'The mail server does not answer in time.');
    throw new ServiceError('EMAIL_DELIVERY_FAILED');
  }
}
