import type { Clock } from '../../../shared/lib/clock.ts';
import type { ServiceError } from '../../../shared/lib/errors.ts';
import {
  readProjectAddress,
  replyAddresses,
} from '../../../shared/operations/email/project-address.ts';
import type { Project } from '../../projects/project.ts';
import type { Projects } from '../../projects/projects.ts';
import { isRefusal, type IngressGuard } from '../../projects/limits/ingress-guard.ts';
import { deliverMail } from './deliver.ts';
import type { Metrics } from '../../lib/metrics.ts';
import type { MailOutcome } from '../../lib/metrics.ts';
import type { MailTaker } from './mail-taker.ts';
import type { MailReader, ReadMail } from './read-mail.ts';

/** A sender may name any address, and each project that is found is opened. */
const PROJECTS_MAX = 10;

interface MailRouterDeps {
  readonly projects: Projects;
  readonly reader: MailReader;
  readonly guard: IngressGuard;
  readonly clock: Clock;
  /** The domain of every address that mail comes to. */
  readonly domain: string;
  readonly metrics?: Metrics | undefined;
}

/** Delivers mails to their projects. */
export class MailRouter implements MailTaker {
  readonly #deps: MailRouterDeps;

  constructor(deps: MailRouterDeps) {
    this.#deps = deps;
  }

  async take(came: Parameters<MailTaker['take']>[0]): Promise<MailOutcome> {
    const outcome = await this.#take(came);
    this.#deps.metrics?.mailTaken(outcome);
    return outcome;
  }

  async #take(came: Parameters<MailTaker['take']>[0]): Promise<MailOutcome> {
    const { reader, clock } = this.#deps;
    const { raw, whole, sizeBytes } = came;
    const now = clock.now();
    const mail = await reader.read(raw, { now, whole, sizeBytes });
    const outcomes = new Set<MailOutcome>();
    let refusal: ServiceError | null = null;
    for (const [project, recipients] of await this.#addressees(mail)) {
      try {
        outcomes.add(await this.#deliver(project, { mail, recipients, now }));
      } catch (error) {
        // The other projects take it now; for them it's a duplicate when it comes again.
        if (!isRefusal(error)) throw error;
        refusal = error;
      }
    }
    if (refusal !== null) throw refusal;
    if (outcomes.has('delivered')) return 'delivered';
    return outcomes.has('duplicate') ? 'duplicate' : 'unknown_recipient';
  }

  async #deliver(
    project: Project,
    came: { readonly mail: ReadMail; readonly recipients: readonly string[]; readonly now: number },
  ): Promise<MailOutcome> {
    const source = await project.store.read((store) => store.sources.email());
    const { domain, guard } = this.#deps;
    const arrived = { ...came, domain, source: source ?? null };
    const done = await deliverMail(project, arrived, guard);
    if (done === null) return 'unknown_recipient';
    return done === 'report' || done.status === 'accepted' ? 'delivered' : 'duplicate';
  }

  /**
   * The projects this copy is for: those in the first field of our mail servers that names any, or else the first ten that
   * the mail itself names, or else the one whose reply address it refers to. Any address in a later field is the mailbox's
   * own, or the sender wrote it.
   */
  async #addressees(mail: ReadMail): Promise<Map<Project, string[]>> {
    const { delivered_to, addressed_to, payload } = mail;
    const answered = replyAddresses(payload, this.#deps.domain);
    for (const addresses of [...delivered_to, addressed_to, answered]) {
      const found = await this.#projectsOf(addresses);
      if (found.size > 0) return found;
    }
    return new Map();
  }

  async #projectsOf(addresses: readonly string[]): Promise<Map<Project, string[]>> {
    const { projects, domain } = this.#deps;
    const found = new Map<Project, string[]>();
    // qmail writes `inbox.example-shop@inbox.example` for a domain that one of its users has.
    const ofQmail = `${domain}-`;
    for (const noted of addresses) {
      const isOfQmail = noted.toLowerCase().startsWith(ofQmail);
      const address = isOfQmail ? noted.slice(ofQmail.length) : noted;
      const read = readProjectAddress(address, domain);
      const project = read && (await projects.findBySlug(read.slug));
      const known = project && found.get(project);
      if (known) known.push(address);
      else if (project && found.size < PROJECTS_MAX) found.set(project, [address]);
    }
    return found;
  }
}
