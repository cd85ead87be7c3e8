import { LOGIN_KEPT_MS } from '../../shared/lib/limits.ts';
import type { OutgoingMail } from '../mail/mailer.ts';
import type { Sent } from '../lib/approvals.ts';
import { Founding, type FoundingDeps } from './founding.ts';
import { Logins } from './logins.ts';

interface SignInDeps extends FoundingDeps {
  readonly mail: (mail: Omit<OutgoingMail, 'from'>) => Promise<Sent>;
  /** Gets the reason why a mail didn't go out. */
  readonly onTrouble: (reason: string) => void;
}

/** Sign-in by email address, which creates projects and their first keys on a hosted gateway. */
export class SignIn {
  readonly logins: Logins;
  readonly founding: Founding;
  readonly #deps: SignInDeps;

  constructor(deps: SignInDeps) {
    const { control, clock, vault, server, mail, onTrouble } = deps;
    this.#deps = deps;
    this.founding = new Founding(deps);
    this.logins = new Logins({
      store: control.logins,
      clock,
      vault,
      publicUrl: server.urls.api,
      mailDomain: server.mail.domain,
      mail,
      projectsOf: (accountId) => this.founding.projectsOf(accountId),
      onTrouble,
    });
  }

  /** Finishes projects that an earlier run left half made, and deletes old sign-ins. */
  async start(): Promise<void> {
    const { clock, control } = this.#deps;
    await this.founding.finish();
    const now = clock.now();
    await control.logins.tidy(now - LOGIN_KEPT_MS, now);
  }
}
