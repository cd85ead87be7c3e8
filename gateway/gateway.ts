import { join } from 'node:path';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { HttpEnv } from '../shared/bindings/http.ts';
import { steadiness, systemClock, type Clock, type Steadiness } from '../shared/clock.ts';
import type { ProjectInfo, ServerInfo, Vault } from '../shared/context.ts';
import type { Executor } from '../shared/executor.ts';
import { hashApiKey, last4, newApiKey, newId } from '../shared/ids.ts';
import { makeFolder } from '../shared/make-folder.ts';
import { ControlStore } from '../shared/store/control-store.ts';
import { VERSION } from '../shared/version.ts';
import { Authenticator } from './authenticate.ts';
import type { BlobsConfig } from './blobs/blobs-config.ts';
import { Authority } from './authority.ts';
import type { CallbackAllow } from './callbacks/callback-allow.ts';
import { OutboundCallbacks } from './callbacks/callbacks.ts';
import { Downloads } from './links/downloads.ts';
import { httpApp } from './http.ts';
import type { Desk } from './people/desk.ts';
import { People, type PeopleConfig } from './people/people.ts';
import { PeopleDesk } from './people/people-desk.ts';
import { Ingress } from './ingress.ts';
import { KeyUse } from './key-use.ts';
import { InboundMail } from './mail/inbound/inbound-mail.ts';
import { readMailConfig } from './mail/read-mail-config.ts';
import { mailInfo, ownNames } from './mail/mail-info.ts';
import type { Census, Observer } from './observer.ts';
import type { OpenFilesOptions } from './open-files.ts';
import { OperatorDesk } from './operator/operator-desk.ts';
import { PayloadLinks } from './links/payload-links.ts';
import { Projects } from './projects.ts';
import { ReplicaSource } from './replica/source.ts';
import { Rates } from './rates.ts';
import { S3Client } from './blobs/s3-client.ts';
import { SignIn } from './signin/sign-in.ts';
import { Uploads } from './links/uploads.ts';
import { createVault, loadMasterKey } from './vault.ts';
import { ThreadWriters } from './writes/thread.ts';
import type { Writers, WritersOptions } from './writes/writers.ts';

export interface GatewayOptions {
  readonly dataFolder: string;
  /** Bases of all addresses, without a slash at the end. */
  readonly urls: ServerInfo['urls'];
  /** Calls a minute and key; 0 is no limit. */
  readonly ratePerMinute: number;
  readonly log: Logger;
  readonly clock?: Clock;
  /** When `clock` may be trusted to say that something is old enough to be deleted. */
  readonly steady?: Steadiness;
  /** The disk failed a write: the process must end. */
  readonly onFatal: (error: unknown) => void;
  /** Holds the key that seals stored secrets, and is made where it is not there: `master.key` beside the data, unless given. */
  readonly masterKeyFile?: string;
  /** Counts what happens. */
  readonly observer?: Observer;
  /** Where blobs are kept: beside the databases, unless said otherwise. */
  readonly blobs?: BlobsConfig;
  /** How people are reached: by the outbox folder beside the data, unless said otherwise. */
  readonly people?: PeopleConfig;
  /** Whether people may sign in by mail and make projects: on a hosted gateway. */
  readonly signIn?: boolean;
  /**
   * How many projects may have their databases open at a time; one that nobody uses for ten minutes is closed, too. Unless
   * given, all stay open, and no timer runs for that.
   */
  readonly openProjectsMax?: number;
  /** Private addresses that callbacks may be sent to, over http too: for tests and development. */
  readonly callbackAllow?: CallbackAllow;
  /** How long a receiver of callbacks has to answer: 15 seconds, unless said otherwise by a test. */
  readonly callbackDeadlineMs?: number;
  /** Where transactions run: in a thread of their own, unless said otherwise. */
  readonly openWriters?: (options: WritersOptions) => Writers;
  /** Check every answer against its schema; for tests. */
  readonly checkAnswers?: boolean;
}

/** A key with its secret, which is shown this once. */
export interface IssuedKey {
  readonly keyId: string;
  readonly apiKey: string;
}

interface Parts {
  readonly clock: Clock;
  readonly control: ControlStore;
  readonly projects: Projects;
  readonly writers: Writers;
  readonly bucket: S3Client | null;
  readonly callbacks: OutboundCallbacks;
  readonly people: People;
  readonly mail: InboundMail;
  readonly signIn: SignIn | null;
  readonly desk: Desk;
  readonly operator: OperatorDesk;
  readonly keyUse: KeyUse;
  readonly executor: Executor;
  readonly app: Hono<HttpEnv>;
}

/** The authority: projects on disk, the executor over them, and the doors to it. Puts the parts together. */
export class Gateway {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static async open(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(await assemble(options));
    try {
      await gateway.#parts.signIn?.start();
      await gateway.#parts.projects.start();
      await gateway.#parts.mail.start();
    } catch (error) {
      await gateway.#parts.writers.close();
      throw error;
    }
    return gateway;
  }

  /** Everything it answers over HTTP. */
  get app(): Hono<HttpEnv> {
    return this.#parts.app;
  }

  get executor(): Executor {
    return this.#parts.executor;
  }

  /** Where decisions of people arrive. */
  get desk(): Desk {
    return this.#parts.desk;
  }

  /** Where orders of whoever runs it arrive. */
  get operator(): OperatorDesk {
    return this.#parts.operator;
  }

  get projects(): Projects {
    return this.#parts.projects;
  }

  listProjects(): Promise<ProjectInfo[]> {
    return this.#parts.projects.list();
  }

  /** A new project with a first key that may do everything, and its owner as the first one to be asked. */
  async createProject(wanted: {
    name: string;
    slug: string;
    owner?: string;
  }): Promise<{ project: ProjectInfo } & IssuedKey> {
    const project = await this.#parts.projects.create(wanted);
    await this.setOwner(project.info.id, wanted.owner ?? NO_OWNER);
    return { project: project.info, ...(await this.createAdminKey(project.info.id)) };
  }

  /** Makes an email address the owner's: of whoever runs the machine, or has confirmed it by signing in. */
  async setOwner(projectId: string, address: string): Promise<void> {
    const project = await this.#parts.projects.find(projectId);
    if (!project) throw new Error(`There is no project ${projectId}.`);
    const now = this.#parts.clock.now();
    await project.writes.run('setOwner', { channelId: newId('chn', now), address, now });
  }

  /**
   * A further key with every scope: for the owner of the machine, who holds the data anyway. It is not counted against
   * ACTIVE_KEYS_MAX: this is how the owner comes back in when every key is lost, also with all places taken.
   */
  async createAdminKey(projectId: string): Promise<IssuedKey> {
    const project = await this.#parts.projects.find(projectId);
    if (!project) throw new Error(`There is no project ${projectId}.`);
    const now = this.#parts.clock.now();
    const apiKey = newApiKey(projectId);
    const keyId = newId('key', now);
    const secret = { hash: hashApiKey(apiKey), last4: last4(apiKey) };
    await project.writes.run('adminKey', { id: keyId, ...secret, now });
    return { keyId, apiKey };
  }

  /** What it holds at this moment. */
  get census(): Census {
    const { mail, projects, writers } = this.#parts;
    const mailbox = mail.status;
    return {
      ...projects.census,
      writes: writers.waiting ?? 0,
      mailbox: mailbox?.connected ? 1 : 0,
      mailboxBacklog: mailbox?.backlog ?? 0,
    };
  }

  /** Answers every wait as at its timeout, so that the server can finish its connections. */
  endWaits(): Promise<void> {
    return this.#parts.projects.endWaits();
  }

  async close(): Promise<void> {
    const { bucket, callbacks, clock, control, keyUse, mail, people, projects, writers } =
      this.#parts;
    await projects.endWaits();
    await Promise.all([callbacks.close(), people.close(), mail.close()]);
    await keyUse.flush(clock.now());
    await projects.close();
    await writers.close();
    await control.close();
    bucket?.close();
  }
}

/** Where nobody said who the owner is, what is for them goes to the outbox. */
export const NO_OWNER = 'owner@localhost';

/** Of a project's files, before they are closed. */
const UNUSED_MS = 600_000;

async function assemble(options: GatewayOptions): Promise<Parts> {
  const { dataFolder, urls, log, onFatal, observer } = options;
  const clock = options.clock ?? systemClock();
  makeFolder(dataFolder);
  const masterKey = loadMasterKey(options.masterKeyFile ?? join(dataFolder, 'master.key'));
  const vault = createVault(masterKey);
  const config = options.people ?? { mail: readMailConfig({}), telegram: null };
  const addresses = mailInfo(config.mail, options.signIn === true);
  const people = await People.open({
    config,
    dataFolder,
    publicUrl: urls.api,
    clock,
    vault,
    addresses,
    onTrouble: ({ kind, message, cause }) => log.warn({ kind, err: cause }, message),
    observer,
  });
  const server: ServerInfo = {
    version: VERSION,
    urls,
    channels: people.kinds,
    mail: addresses,
    get telegramBot() {
      return people.telegramBot;
    },
  };
  const openWriters = options.openWriters ?? ((wanted) => new ThreadWriters(wanted));
  const writers = openWriters({ masterKey, server, onFatal });
  const control = new ControlStore(join(dataFolder, 'control.db'), onFatal);
  const bucket = options.blobs?.kind === 's3' ? new S3Client(options.blobs) : null;
  const callbacks = openCallbacks(options, { clock, vault, server });
  const steady = options.steady ?? steadiness();
  const files = openFilesOptions(options.openProjectsMax);
  const host = { dataFolder, clock, steady, files, writers, bucket, callbacks, people, observer };
  const projects = new Projects(control, host, (project, error) =>
    log.error({ err: error, project }, 'upkeep failed'),
  );
  const mail = new InboundMail({ config: config.mail, projects, control, clock, log, observer });
  const middle = { clock, vault, server, projects, people, mail };
  const signIn = options.signIn ? openSignIn(options, { ...middle, control }) : null;
  const doors = await openDoors(options, { ...middle, signIn });
  const onError = (project: string, error: unknown): void =>
    log.error({ err: error, project }, 'a project cannot be read');
  const operator = new OperatorDesk({ control, projects, vault, clock, onError });
  const inner = { clock, control, projects, writers, bucket, callbacks, people, mail };
  return { ...inner, signIn, operator, ...doors };
}

function openFilesOptions(max: number | undefined): OpenFilesOptions {
  return max === undefined
    ? { max: Number.POSITIVE_INFINITY, idleMs: null }
    : { max, idleMs: UNUSED_MS };
}

interface Middle {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
}

function openCallbacks(options: GatewayOptions, middle: Middle): OutboundCallbacks {
  const { callbackAllow, callbackDeadlineMs, log, observer } = options;
  return new OutboundCallbacks({
    ...middle,
    ...(callbackAllow && { allow: callbackAllow }),
    ...(callbackDeadlineMs !== undefined && { deadlineMs: callbackDeadlineMs }),
    onError: (project, error) => log.error({ err: error, project }, 'callbacks failed'),
    ...(observer && { onOutcome: (outcome) => observer.pushed(outcome) }),
  });
}

interface Inside extends Middle {
  readonly projects: Projects;
  readonly people: People;
  readonly mail: InboundMail;
}

function openSignIn(
  { log, people: config }: GatewayOptions,
  { people, ...middle }: Inside & { readonly control: ControlStore },
): SignIn {
  return new SignIn({
    ...middle,
    ownNames: config ? ownNames(config.mail) : [],
    mail: (mail) => people.mail(mail),
    onTrouble: (reason) => log.warn({ reason }, 'a sign-in mail was not sent'),
    onError: (error) => log.error({ err: error }, 'a project was not finished'),
  });
}

/** What stands between the outside and the projects. */
async function openDoors(
  options: GatewayOptions,
  middle: Inside & { readonly signIn: SignIn | null },
): Promise<Pick<Parts, 'keyUse' | 'executor' | 'desk' | 'app'>> {
  const { log } = options;
  const { clock, vault, server, projects, people, mail, signIn } = middle;
  const keyUse = new KeyUse(clock, {
    onRejected: (project, { source, count, reason }) =>
      log.warn({ project, source, count, reason }, 'deliveries were refused'),
    onError: (error) => log.warn({ err: error }, 'key use was not written'),
  });
  const authenticator = new Authenticator({ projects, clock, keyUse });
  const executor = new Authority({
    projects,
    authenticator,
    rates: new Rates(options.ratePerMinute),
    clock,
    vault,
    server,
    checkAnswers: options.checkAnswers ?? false,
  });
  const desk = new PeopleDesk({ projects, vault, clock });
  await people.connect(desk);
  const app = httpApp({
    executor,
    ingress: new Ingress({
      projects,
      vault,
      clock,
      keyUse,
      mailReader: mail.reader,
      mailDomain: server.mail.domain,
    }),
    payloadLinks: new PayloadLinks({ projects, vault, clock }),
    uploads: new Uploads({ projects, clock }),
    downloads: new Downloads({ projects, vault, clock }),
    desk,
    signIn,
    vault,
    telegram: people.webhook,
    replicas: { authenticator, clock, source: new ReplicaSource(clock) },
    server,
    onInternal: (error, requestId) => log.error({ err: error, request_id: requestId }, 'failed'),
  });
  return { keyUse, executor, desk, app };
}
