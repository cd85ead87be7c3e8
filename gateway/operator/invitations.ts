import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { newId } from '../../shared/lib/ids.ts';
import { comparableAddress } from '../../shared/rules/mail/mail-address.ts';
import { invitationMessage } from '../auth/sign-in-message.ts';
import { invitationAad, mailboxHashText, type SignUpRule } from '../auth/sign-up.ts';
import type { SendResult } from '../lib/send-result.ts';
import type { OutgoingMail } from '../mail/mailer.ts';
import type { ControlStore } from '../store/control-store.ts';

export interface InvitationDeps {
  readonly control: ControlStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly signUp: SignUpRule;
  readonly publicUrl: string;
  /** Whether mail leaves this machine. */
  readonly sendsMail: boolean;
  readonly mail: (mail: Omit<OutgoingMail, 'from'>) => Promise<SendResult>;
}

interface InviteResult {
  readonly email: string;
  readonly status: 'invited' | 'invited_already' | 'has_account';
  /** Whether the person got a mail about it. */
  readonly mailed: boolean;
}

interface InvitationList {
  /** `listed`: some addresses and domains. */
  readonly sign_up: 'open' | 'listed' | 'closed';
  readonly sends_mail: boolean;
  readonly items: readonly { readonly email: string; readonly invited_at: string }[];
}

/** Who may sign up although the settings don't let everyone: the operator invites them. */
export class Invitations {
  readonly #deps: InvitationDeps;

  constructor(deps: InvitationDeps) {
    this.#deps = deps;
  }

  async list(): Promise<InvitationList> {
    const { control, sendsMail, signUp, vault } = this.#deps;
    const items = (await control.invitations.all()).map(({ id, address, created_at }) => ({
      email: Buffer.from(vault.open(invitationAad(id), address)).toString('utf8'),
      invited_at: created_at,
    }));
    return { sign_up: wordFor(signUp), sends_mail: sendsMail, items };
  }

  /** Lets a person sign up, and mails them how. A repeat mails them again. */
  async invite(given: string): Promise<InviteResult> {
    const { clock, control, mail, publicUrl, sendsMail, vault } = this.#deps;
    const email = comparableAddress(given);
    const now = clock.now();
    const id = newId('inv', now);
    const added = await control.invitations.add({
      id,
      mailbox_hash: vault.sign(mailboxHashText(email)),
      address: vault.seal(invitationAad(id), email),
      created_at: isoTime(now),
    });
    if (added === 'has_account') return { email, status: added, mailed: false };
    const message = invitationMessage({ email, publicUrl });
    const sent = await mail({ id: newId('msg', now), to: email, ...message });
    const status = added === 'added' ? 'invited' : added;
    return { email, status, mailed: sendsMail && sent.outcome === 'sent' };
  }

  /** Takes an invitation back; it doesn't touch an account. */
  async revoke(email: string): Promise<{ readonly email: string; readonly revoked: boolean }> {
    const { control, vault } = this.#deps;
    const revoked = await control.invitations.remove(vault.sign(mailboxHashText(email)));
    return { email, revoked };
  }
}

function wordFor({ isOpen, domains, mailboxes }: SignUpRule): InvitationList['sign_up'] {
  if (isOpen) return 'open';
  return domains.length + mailboxes.length > 0 ? 'listed' : 'closed';
}
