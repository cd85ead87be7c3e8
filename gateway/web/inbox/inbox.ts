import type { Admission } from '../../../shared/admission/admission.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { ServerInfo, Vault } from '../../../shared/kernel/context.ts';
import type { Authority } from '../../executor/authority.ts';
import type { ControlStore } from '../../store/control-store.ts';
import type { ApprovalService } from '../../approvals/approvals.ts';
import type { SendResult } from '../../lib/send-result.ts';
import type { SendSample } from '../../lib/sample-delivery.ts';
import type { PushAnswer } from '../../lib/push/push-answer.ts';
import type { PushSubscription } from '../../lib/push/subscription.ts';
import { OwnerApprovals } from '../../approvals/owner-approvals.ts';
import type { Joining } from '../../auth/joining.ts';
import type { OpenOAuth } from '../../auth/oauth/offer.ts';
import type { OutgoingMail } from '../../mail/mailer.ts';
import type { Project } from '../../projects/project.ts';
import type { Projects } from '../../projects/projects.ts';
import { AccessService } from './session/access.ts';
import { FormProofs } from '../pages/form-proofs.ts';
import { LiveStreams } from './frame/live.ts';
import { OwnerSignIn } from './session/owner-sign-in.ts';
import { Sessions } from './session/sessions.ts';

interface InboxHealth {
  readonly bot: boolean | null;
  readonly mailbox: boolean | null;
}

/** Sends people's browsers notices. */
interface BrowserPushes {
  /** CALLBACK_URL_REJECTED if this browser's push service can't be called. */
  check(subscription: PushSubscription): Promise<void>;
  /** Sends a test to a browser of a person; null if they have no such browser. */
  test(project: Project, channelId: string, browserId: string): Promise<PushAnswer | null>;
}

interface WebInboxDeps {
  readonly control: ControlStore;
  readonly projects: Projects;
  /** Sends a mail to a person in the service's name. */
  readonly mailPerson: (mail: Omit<OutgoingMail, 'from'>) => Promise<SendResult>;
  /** Delivers a sample to a source of a project. */
  readonly sendSample: SendSample;
  readonly approvals: ApprovalService;
  readonly executor: Authority;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
  /** True on a local machine, where nobody signs in to create projects. */
  readonly isLocal: boolean;
  /** The folder with mail that this machine keeps instead of sending it; null if mail is sent. */
  readonly outboxFolder: string | null;
  /** Takes invited people in; null where nobody signs in. */
  readonly joining: Joining | null;
  /** Null if the gateway offers no OAuth. */
  readonly oauth: OpenOAuth | null;
  /** Whether the Telegram bot and the mailbox work; null where there is none. */
  readonly health: () => InboxHealth;
  readonly push: BrowserPushes;
  /** Reports why a mail couldn't be sent. */
  readonly onTrouble: (reason: string) => void;
}

/** The services behind the web inbox. Its pages load on the first visit. */
export class WebInbox {
  readonly sessions: Sessions;
  readonly access: AccessService;
  readonly signIn: OwnerSignIn;
  readonly live: LiveStreams;
  readonly sendSample: SendSample;
  readonly requests: OwnerApprovals;
  readonly approvals: ApprovalService;
  readonly executor: Authority;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly forms: FormProofs;
  readonly server: ServerInfo;
  readonly publicUrl: string;
  readonly mailDomain: string | null;
  readonly isLocal: boolean;
  readonly outboxFolder: string | null;
  readonly joining: Joining | null;
  readonly oauth: OpenOAuth | null;
  readonly health: () => InboxHealth;
  readonly push: BrowserPushes;

  constructor(deps: WebInboxDeps) {
    const { control, projects, mailPerson, approvals, executor, clock, vault, server, isLocal } =
      deps;
    const store = control.uiSessions;
    const publicUrl = server.urls.api;
    this.live = new LiveStreams(deps.admission);
    const onEnded = (idHash: string): void => this.live.recheck(idHash);
    this.sessions = new Sessions({ store, clock, vault, onEnded });
    this.access = new AccessService({ projects, store, clock, vault, isLocal });
    this.signIn = new OwnerSignIn({
      sessions: this.sessions,
      clock,
      publicUrl,
      mail: mailPerson,
      onTrouble: deps.onTrouble,
    });
    this.requests = new OwnerApprovals({ vault, clock });
    this.sendSample = deps.sendSample;
    this.approvals = approvals;
    this.executor = executor;
    this.clock = clock;
    this.vault = vault;
    this.forms = new FormProofs(vault, clock);
    this.server = server;
    this.publicUrl = publicUrl;
    this.mailDomain = server.mail.domain;
    this.isLocal = isLocal;
    this.outboxFolder = deps.outboxFolder;
    this.joining = deps.joining;
    this.oauth = deps.oauth;
    this.health = deps.health;
    this.push = deps.push;
  }

  /** The command that shows mail which isn't sent, on the machine that keeps it; null if mail is sent. */
  get mailReadBy(): string | null {
    if (this.outboxFolder === null) return null;
    return this.isLocal ? 'svc outbox open' : 'svc gateway outbox';
  }
}
