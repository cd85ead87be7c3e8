import { LOGIN_KEPT_MS } from '../../shared/lib/limits.ts';
import type { OutgoingMail } from '../mail/mailer.ts';
import type { SendResult } from '../lib/send-result.ts';
import { ProjectSetup, type ProjectSetupDeps } from './project-setup.ts';
import { Joining } from './joining.ts';
import { accountAad, Logins } from './logins.ts';
import type { MemberDirectory } from './member-directory.ts';
import { mailboxHashText, type SignUpRule } from './sign-up.ts';

interface SignInDeps extends ProjectSetupDeps {
  readonly directory: MemberDirectory;
  readonly signUp: SignUpRule;
  readonly mail: (mail: Omit<OutgoingMail, 'from'>) => Promise<SendResult>;
  /** Gets the reason why a mail didn't go out. */
  readonly onTrouble: (reason: string) => void;
}

/** Sign-in by email address, which creates projects and their first keys on a hosted gateway. */
export class SignIn {
  readonly logins: Logins;
  readonly projectSetup: ProjectSetup;
  readonly joining: Joining;
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    const { control, clock, vault, server, signUp, mail, onTrouble } = deps;
    this.#deps = deps;
    this.projectSetup = new ProjectSetup(deps);
    this.joining = new Joining({ ...deps, accounts: control.accounts });
    this.logins = new Logins({
      store: control.logins,
      accounts: control.accounts,
      signUp,
      clock,
      vault,
      publicUrl: server.urls.api,
      mailDomain: server.mail.domain,
      keepsMail: server.mail.isKept === true,
      mail,
      projectsOf: (accountId) => this.projectSetup.projectsOf(accountId),
      onTrouble,
    });
  }

  /** Finishes what earlier runs and releases left undone, and deletes old sign-ins. */
  async start(): Promise<void> {
    const { clock, control } = this.#deps;
    await this.projectSetup.finish();
    await this.#fillMailboxes();
    const now = clock.now();
    await control.logins.tidy(now - LOGIN_KEPT_MS, now);
  }

  /** Whether the next person to sign in gets an account only because nobody has one yet. */
  async isVacant(): Promise<boolean> {
    const { control, signUp } = this.#deps;
    return !signUp.isOpen && !(await control.accounts.areAny());
  }

  async #fillMailboxes(): Promise<void> {
    const { control, vault } = this.#deps;
    for (const { id, address } of await control.accounts.withoutMailbox()) {
      const opened = Buffer.from(vault.open(accountAad(id), address)).toString('utf8');
      await control.accounts.setMailbox(id, vault.sign(mailboxHashText(opened)));
    }
  }
}
