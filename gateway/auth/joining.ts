import { hash } from 'node:crypto';
import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { ProjectInfo, Vault } from '../../shared/kernel/context.ts';
import { newId, parseToken } from '../../shared/lib/ids.ts';
import { memberAad } from '../../shared/operations/member/view.ts';
import { invitationViewFor } from '../approvals/view.ts';
import { comparableAddress } from '../../shared/rules/mail/mail-address.ts';
import type { MemberRow } from '../../shared/store/tables/access/members.ts';
import type { InvitationView } from '../approvals/approvals.ts';
import type { Project } from '../projects/project.ts';
import type { Projects } from '../projects/projects.ts';
import type { AccountStore } from '../store/control/accounts.ts';
import { accountAad, accountHashText } from './logins.ts';
import type { MemberDirectory } from './member-directory.ts';
import { isAllowed, mailboxHashText, type SignUpRule } from './sign-up.ts';

interface JoiningDeps {
  readonly projects: Projects;
  readonly accounts: AccountStore;
  readonly directory: MemberDirectory;
  readonly signUp: SignUpRule;
  readonly clock: Clock;
  readonly vault: Vault;
}

/** Who joined, by the address of their account, and where; or that the mailbox has an account under another spelling. */
type AcceptResult =
  | {
      readonly outcome: 'joined';
      readonly project: ProjectInfo;
      readonly address: string;
      /** Joining created their account. The link doesn't sign anybody in to an account that existed before. */
      readonly isNew: boolean;
    }
  | { readonly outcome: 'other_spelling' };

/** Takes invited people into projects. Their link proves that they read the mailbox, so somebody new gets an account with it. */
export class Joining {
  readonly #deps: JoiningDeps;

  constructor(deps: JoiningDeps) {
    this.#deps = deps;
  }

  /** Null unless the link is that of an invitation that is still good. */
  async open(token: string): Promise<InvitationView | null> {
    const found = await this.#find(token);
    if (!found) return null;
    const { project, member } = found;
    return project.store.read((store) => invitationViewFor(store, member, project.info));
  }

  /** Uses the link. The steps can be repeated, because only the last one takes effect. */
  async accept(token: string): Promise<AcceptResult | null> {
    const { accounts, clock, directory, signUp, vault } = this.#deps;
    const found = await this.#find(token);
    if (!found?.member.address) return null;
    const { project, member } = found;
    const now = clock.now();
    const invited = vault.open(memberAad(project.info.id, member.id), found.member.address);
    const address = comparableAddress(Buffer.from(invited).toString());
    const fresh = this.#newAccount(address, now);
    const joining = await accounts.forJoining(fresh, isAllowed(signUp, address));
    if (!joining) return { outcome: 'other_spelling' };
    const { account, isNew } = joining;
    await directory.add(project.info.id, member.id, address);
    const tokenHash = hash('sha256', token);
    const accepted = { tokenHash, accountId: account.id, address, now };
    const joined = await project.writes.run('acceptInvitation', accepted);
    return joined ? { outcome: 'joined', project: project.info, address, isNew } : null;
  }

  #newAccount(address: string, now: number) {
    const { vault } = this.#deps;
    const id = newId('acc', now);
    return {
      id,
      address: vault.seal(accountAad(id), address),
      address_hash: vault.sign(accountHashText(address)),
      mailbox_hash: vault.sign(mailboxHashText(address)),
      created_at: isoTime(now),
    };
  }

  async #find(token: string): Promise<{ project: Project; member: MemberRow } | null> {
    const parsed = parseToken(token);
    const project = parsed && (await this.#deps.projects.find(parsed.projectId));
    if (!project) return null;
    const now = this.#deps.clock.now();
    const member = await project.store.read(({ members }) =>
      members.byToken(hash('sha256', token), now),
    );
    return member ? { project, member } : null;
  }
}
