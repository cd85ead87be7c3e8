import { join } from 'node:path';
import type { Hono } from 'hono';
import type { HttpEnv } from '../shared/api/http.ts';
import { Admission } from '../shared/admission/admission.ts';
import { systemClock, type Clock } from '../shared/lib/clock.ts';
import type { ServerInfo, Vault } from '../shared/kernel/context.ts';
import type { Executor } from '../shared/kernel/executor.ts';
import { once } from '../shared/lib/once.ts';
import { makeFolder } from '../shared/host/make-folder.ts';
import type { ControlStore } from './store/control-store.ts';
import { VERSION } from '../shared/lib/version.ts';
import { Authenticator } from './auth/authenticate.ts';
import { Authority } from './executor/authority.ts';
import { OutboundCallbacks } from './callbacks/callbacks.ts';
import { Downloads } from './http/links/downloads.ts';
import { httpApp } from './http/app.ts';
import { Databases } from './store/databases.ts';
import type { ApprovalService } from './approvals/approvals.ts';
import { openPeople, type People } from './compose-people.ts';
import { openDamage, reportsOf, watchIngress, type IngressWatch } from './compose-ingress.ts';
import { Messaging } from './compose-messaging.ts';
import { ProjectApprovals } from './approvals/project-approvals.ts';
import { Ingress } from './http/ingress.ts';
import { certificateReader, SenderCertificates } from './http/sender-certificates.ts';
import { LOCAL_INGRESS, type IngressConfig } from './lib/ingress-config.ts';
import { InboundMail } from './mail/inbound/inbound-mail.ts';
import { readMailConfig } from './mail/read-mail-config.ts';
import { mailInfo, ownNames } from './mail/mail-info.ts';
import { openControl } from './projects/open-control.ts';
import type { DatabasePoolOptions } from './projects/database-pool.ts';
import { OperatorService } from './operator/operator-service.ts';
import { PayloadLinks } from './http/links/payload-links.ts';
import { AloneCoordination } from './cluster/alone.ts';
import type { Coordination } from './cluster/coordination.ts';
import { gatewayIdIn } from './cluster/gateway-id.ts';
import { SharedCoordination } from './cluster/shared.ts';
import { StaleMirrors } from './cluster/stale-mirrors.ts';
import type { BackgroundTask } from './lib/background-task.ts';
import { KeptMail } from './http/links/kept-mail.ts';
import { MailCeilings } from './projects/limits/mail-ceilings.ts';
import { Projects } from './projects/projects.ts';
import { LogSource } from './replica/log-source.ts';
import { mayOfferOAuth, type OAuthDeps, type OpenOAuth } from './auth/oauth/offer.ts';
import { RateLimiter } from './auth/rate-limiter.ts';
import { refuseHalfRekeyed } from './lib/rekey-mark.ts';
import { S3Client } from './blobs/s3-client.ts';
import { SignIn } from './auth/sign-in.ts';
import { SIGN_UP_OPEN, type SignUpRule } from './auth/sign-up.ts';
import { SavedTrustedClock } from './projects/trusted-clock.ts';
import { Uploads } from './http/links/uploads.ts';
import { WebInbox } from './web/inbox/inbox.ts';
import { createVault, loadMasterKey } from './lib/vault.ts';
import { ThreadWriters } from './commit/thread/thread.ts';
import type { Writers } from './commit/thread/writers.ts';
import type { GatewayOptions } from './options.ts';

/** The components of a gateway. */
export interface Components extends IngressWatch {
  readonly clock: Clock;
  readonly control: ControlStore;
  readonly projects: Projects;
  readonly writers: Writers;
  readonly bucket: S3Client | null;
  readonly callbacks: OutboundCallbacks;
  readonly messaging: Messaging;
  readonly mail: InboundMail;
  readonly coordination: Coordination;
  readonly staleMirrors: StaleMirrors;
  readonly signIn: SignIn | null;
  readonly approvals: ApprovalService;
  /** Notes the Telegram chats of projects that an earlier release made; null without a bot. */
  readonly noting: BackgroundTask | null;
  readonly operator: OperatorService;
  readonly executor: Executor;
  readonly app: Hono<HttpEnv>;
}

/** Closes a project's database after this much time without use. */
const UNUSED_MS = 600_000;

/** Assembles the components without starting any. */
export async function assemble(options: GatewayOptions): Promise<Components> {
  const { dataFolder, log, metrics, admission = Admission.local() } = options;
  let isInDoubt = false;
  const onFatal = (error: unknown): void => {
    isInDoubt = true;
    options.onFatal(error);
  };
  const clock = options.clock ?? systemClock();
  makeFolder(dataFolder);
  refuseHalfRekeyed(dataFolder);
  const masterKey = loadMasterKey(options.masterKeyFile ?? join(dataFolder, 'master.key'));
  const vault = createVault(masterKey);
  const config = options.messaging ?? { mail: readMailConfig({}), telegram: null };
  const addresses = mailInfo(config.mail, options.signIn === true);
  const messaging = await openMessaging(options, { config, clock, vault, addresses });
  const server = serverInfo(options, messaging, addresses);
  const openWriters = options.openWriters ?? ((wanted) => new ThreadWriters(wanted));
  const writers = openWriters({ masterKey, server, onFatal });
  const damage = openDamage({ dataFolder, clock, log });
  const store = await openStore({ ...options, onFatal }, vault, reportsOf(damage));
  const { databases, control } = store;
  const { bucket, blobsFolder } = blobsIn(options);
  const callbacks = openCallbacks(options, { clock, vault, server });
  const folders = { dataFolder, blobsFolder: bucket ? null : blobsFolder };
  const watch = watchIngress(ingressOf(options), { ...store, ...folders, clock, log, damage });
  const { disk } = watch;
  const kept = { dataFolder, databases, bucket, blobsFolder, disk, damage };
  const inDoubt = { isInDoubt: () => isInDoubt };
  const people = openPeople(options, { control, vault, clock });
  const mailCeilings = new MailCeilings(control.mailUse, options.mailLimits);
  const sending = { callbacks, messaging, mailCeilings };
  const coordination = openCoordination(options, store, clock);
  const common = { clock, coordination, writers, admission, metrics, directory: people };
  const deps = { ...kept, ...inDoubt, ...sending, ...common };
  const projects = openProjects(options, control, deps);
  const receiving = { projects, control, clock, log, metrics };
  const mail = new InboundMail({ ...watch, config: config.mail, ...receiving });
  const core = { clock, vault, server, databases, projects, messaging, mail, watch };
  const signIn = options.signIn
    ? openSignIn(options, { ...core, control, directory: people.members, coordination })
    : null;
  const http = await openHttp(options, {
    ...core,
    chats: people.chats,
    control,
    signIn,
    admission,
  });
  const operator = openOperator(options, { ...core, control });
  const noting = config.telegram ? people.chats.noting(projects) : null;
  for (const task of [mail.task, messaging.task, noting])
    if (task) coordination.addExclusiveTask(task);
  const mirrors = { folder: databases.mirrors, control, projects, clock };
  const staleMirrors = new StaleMirrors(mirrors);
  const inner = { clock, control, projects, writers, bucket, callbacks, messaging, mail };
  const beside = { coordination, staleMirrors, signIn, operator, noting };
  return { ...inner, ...watch, ...beside, ...http };
}

function ingressOf({ ingress = LOCAL_INGRESS }: GatewayOptions): IngressConfig {
  return ingress;
}

function serverInfo(
  options: GatewayOptions,
  messaging: Messaging,
  mail: ServerInfo['mail'],
): ServerInfo {
  const { urls, contentUrl, signIn } = options;
  const { limits, replicaLogBytes = null } = ingressOf(options);
  return {
    version: VERSION,
    urls,
    ...(contentUrl !== undefined && { contentUrl }),
    channels: messaging.kinds,
    mail,
    ingress: limits,
    replicaLogBytes,
    signsIn: signIn === true,
    get telegramBot() {
      return messaging.telegramBot;
    },
  };
}

function blobsIn({
  blobs,
  dataFolder,
}: GatewayOptions): Pick<ProjectsDeps, 'bucket' | 'blobsFolder'> {
  const bucket = blobs?.kind === 's3' ? new S3Client(blobs) : null;
  return { bucket, blobsFolder: (blobs?.kind === 'file' && blobs.folder) || dataFolder };
}

function openMessaging(
  { dataFolder, urls, log, metrics, callbackAllow }: GatewayOptions,
  core: Pick<Parameters<typeof Messaging.open>[0], 'config' | 'clock' | 'vault' | 'addresses'>,
): Promise<Messaging> {
  return Messaging.open({
    ...core,
    dataFolder,
    publicUrl: urls.api,
    onTrouble: ({ kind, message, cause }) => log.warn({ kind, err: cause }, message),
    metrics,
    callbackAllow,
  });
}

interface Store {
  readonly databases: Databases;
  readonly control: ControlStore;
}

async function openStore(
  { dataFolder, store, onFatal }: GatewayOptions,
  vault: Vault,
  onDamage: ReturnType<typeof reportsOf>,
): Promise<Store> {
  const databases = new Databases(dataFolder, store ?? null);
  return { databases, control: await openControl(databases, vault, onFatal, onDamage) };
}

type ProjectsDeps = ConstructorParameters<typeof Projects>[1];

/** Creates what the gateway does because of others, if others can have its databases. */
function openCoordination(
  { dataFolder, clusterTiming, log }: GatewayOptions,
  { databases, control }: Store,
  clock: Clock,
): Coordination {
  if (!databases.onServer) return new AloneCoordination(control.idleMarkers);
  return new SharedCoordination({
    store: control.gateways,
    id: gatewayIdIn(dataFolder),
    clock,
    ...(clusterTiming && { timing: clusterTiming }),
    onError: (error) => log.error({ err: error }, 'the store, or who shares it, gives trouble'),
  });
}

function openProjects(
  {
    dataFolder,
    deletionClock = new SavedTrustedClock(dataFolder),
    openProjectsMax,
    log,
  }: GatewayOptions,
  control: ControlStore,
  deps: Omit<ProjectsDeps, 'deletionClock' | 'poolOptions'>,
): Projects {
  const own = { ...deps, deletionClock, poolOptions: poolOptions(openProjectsMax) };
  return new Projects(control, own, (project, error) =>
    log.error({ err: error, project }, 'maintenance failed'),
  );
}

function poolOptions(max: number | undefined): DatabasePoolOptions {
  return max === undefined
    ? { max: Number.POSITIVE_INFINITY, idleMs: null }
    : { max, idleMs: UNUSED_MS };
}

interface Core {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly server: ServerInfo;
}

function openCallbacks(options: GatewayOptions, core: Core): OutboundCallbacks {
  const { callbackAllow, callbackDeadlineMs, log, metrics } = options;
  return new OutboundCallbacks({
    ...core,
    ...(callbackAllow && { allow: callbackAllow }),
    ...(callbackDeadlineMs !== undefined && { deadlineMs: callbackDeadlineMs }),
    onError: (project, error) => log.error({ err: error, project }, 'callbacks failed'),
    ...(metrics && { onOutcome: (outcome) => metrics.pushed(outcome) }),
  });
}

interface Services extends Core {
  readonly databases: Databases;
  readonly projects: Projects;
  readonly messaging: Messaging;
  readonly mail: InboundMail;
  readonly watch: IngressWatch;
}

function signUpOf({ signUp }: GatewayOptions): SignUpRule {
  return signUp ?? SIGN_UP_OPEN;
}

interface SignInCore extends Services {
  readonly control: ControlStore;
  readonly directory: People['members'];
  readonly coordination: Coordination;
}

function openSignIn(
  options: GatewayOptions,
  { messaging, coordination, ...core }: SignInCore,
): SignIn {
  const { log, messaging: config } = options;
  return new SignIn({
    ...core,
    signUp: signUpOf(options),
    ownNames: config ? ownNames(config.mail) : [],
    areOthersAlive: () => coordination.hasOthers,
    mail: (mail) => messaging.mail(mail),
    onTrouble: (reason) => log.warn({ reason }, 'a sign-in mail was not sent'),
    onError: (error) => log.error({ err: error }, 'a project was not finished'),
  });
}

function openOperator(
  options: GatewayOptions,
  { messaging, ...core }: Services & { readonly control: ControlStore },
): OperatorService {
  const { log, urls } = options;
  return new OperatorService({
    ...core,
    onError: (project, error) => log.error({ err: error, project }, 'a project cannot be read'),
    signUp: signUpOf(options),
    publicUrl: urls.api,
    sendsMail: core.server.mail.isKept !== true,
    mail: (message) => messaging.mail(message),
  });
}

interface HttpCore extends Services {
  readonly control: ControlStore;
  readonly chats: People['chats'];
  readonly signIn: SignIn | null;
  readonly admission: Admission;
}

/** Assembles everything between HTTP and the projects. */
async function openHttp(
  options: GatewayOptions,
  core: HttpCore,
): Promise<Pick<Components, 'executor' | 'approvals' | 'app'>> {
  const { log } = options;
  const { clock, vault, server, projects, messaging, mail, signIn } = core;
  const { keyUse, guard } = core.watch;
  const authenticator = new Authenticator({ projects, clock, keyUse });
  const executor = new Authority({
    projects,
    authenticator,
    rateLimiter: new RateLimiter(options.ratePerMinute),
    clock,
    vault,
    server,
    checkAnswers: options.checkAnswers ?? false,
  });
  const oauth = signIn !== null && mayOfferOAuth(server.urls.api) ? openOAuth(options, core) : null;
  const approvals = new ProjectApprovals({ projects, chats: core.chats, vault, clock });
  await messaging.connect(approvals);
  const mailIn = { mailReader: mail.reader, mailDomain: server.mail.domain };
  const { callbackAllow, readCertificate = certificateReader(callbackAllow) } = options;
  const certificates = new SenderCertificates(clock, readCertificate);
  const hooks = { hooksUrl: server.urls.hooks, certificates };
  const ingress = new Ingress({ projects, vault, clock, keyUse, guard, ...mailIn, ...hooks });
  const inbox = new WebInbox({
    ...core,
    sendSample: (token, sample) => ingress.receiveSample(token, sample),
    approvals,
    executor,
    isLocal: signIn === null,
    outboxFolder: messaging.outboxFolder,
    joining: signIn?.joining ?? null,
    oauth,
    mailPerson: (message) => messaging.mail(message),
    health: () => healthOf(core),
    push: messaging.browsers,
    onTrouble: (reason) => log.warn({ reason }, 'a link to the inbox was not mailed'),
  });
  const app = httpApp({
    executor,
    ingress,
    payloadLinks: new PayloadLinks({ projects, vault, clock }),
    uploads: new Uploads({ projects, clock }),
    downloads: new Downloads({ projects, vault, clock }),
    keptMail: new KeptMail({ folder: inbox.isLocal ? inbox.outboxFolder : null, vault, clock }),
    approvals,
    signIn,
    inbox,
    oauth,
    clock,
    vault,
    telegram: messaging.webhook,
    replicas: { authenticator, clock, source: new LogSource(clock, core.watch.damage) },
    server,
    onInternal: (error, requestId) => log.error({ err: error, request_id: requestId }, 'failed'),
  });
  return { executor, approvals, app };
}

/** What the overview of the web inbox warns about. */
function healthOf({ messaging, mail }: Pick<Services, 'messaging' | 'mail'>) {
  const { telegram } = messaging;
  return { bot: telegram && telegram.trouble === null, mailbox: mail.status?.connected ?? null };
}

/** Loads with the first request that needs it, because its package does. */
function openOAuth({ callbackAllow: allow }: GatewayOptions, core: OAuthDeps): OpenOAuth {
  return once(async () => {
    const { OAuth } = await import('./auth/oauth/oauth.ts');
    return new OAuth({ ...core, ...(allow && { allow }) });
  });
}
