import { ActivityRepository } from './tables/activity.ts';
import { BlobPinRepository } from './tables/disk/blob-pins.ts';
import { BlobRepository } from './tables/disk/blobs.ts';
import { BrowserRepository } from './tables/access/browsers.ts';
import { CallbackSecretRepository } from './tables/people/callback-secret.ts';
import { ChannelRepository } from './tables/people/channels.ts';
import { DeliveryRepository } from './tables/inbox/deliveries.ts';
import { DiskRepository } from './tables/disk/disk.ts';
import { EmailAddressRepository } from './tables/mail/email-addresses.ts';
import { EmailRepository } from './tables/mail/emails.ts';
import { EventFileRepository } from './tables/inbox/event-files.ts';
import { EventHistoryRepository } from './tables/inbox/event-history.ts';
import { EventRepository } from './tables/inbox/events.ts';
import { FileLinkRepository } from './tables/disk/file-links.ts';
import { FileRepository } from './tables/disk/files.ts';
import { IdempotencyRepository } from './tables/idempotency.ts';
import { KeyRepository } from './tables/access/keys.ts';
import { KvRepository } from './tables/disk/kv.ts';
import { LedgerRepository } from './tables/ledger.ts';
import { LedgerOpeningRepository } from './tables/ledger-openings.ts';
import { MailCopyRepository } from './tables/mail/mail-copies.ts';
import { MailThreadRepository } from './tables/mail/mail-threads.ts';
import { MakerRepository } from './tables/access/makers.ts';
import { MemberRepository } from './tables/access/members.ts';
import { MetaRepository } from './tables/meta.ts';
import { MissingSumsRepository } from './sums/missing-sums.ts';
import { NoticeBudgetRepository } from './tables/people/notice-budgets.ts';
import { NoticeRepository } from './tables/people/notices.ts';
import { OAuthGrantRepository } from './tables/access/oauth-grants.ts';
import { ParkRepository } from './tables/inbox/parks.ts';
import { PolicyRepository } from './tables/people/policies.ts';
import { RequestSearchRepository } from './tables/people/request-search.ts';
import { RequestRepository } from './tables/people/requests.ts';
import { RouteRepository } from './tables/inbox/routes.ts';
import { RowSumRepository } from './sums/row-sums.ts';
import { SourceUseRepository } from './tables/inbox/source-use.ts';
import { SourceRepository } from './tables/inbox/sources.ts';
import { StateVersionRepository } from './tables/disk/state-versions.ts';
import { ThreadRepository } from './tables/people/threads.ts';
import { UploadRepository } from './tables/disk/uploads.ts';
import { VoteRepository } from './tables/people/votes.ts';
import type { Tx } from './engine/driver.ts';

/**
 * Every repository of one project, over one transaction or snapshot. Each is created on first use, because most
 * transactions need only two or three.
 */
export class Repositories {
  readonly #tx: Tx;
  readonly #projectId: string;
  readonly #pinHolder: string | null;
  #activity: ActivityRepository | undefined;
  #browsers: BrowserRepository | undefined;
  #keys: KeyRepository | undefined;
  #oauthGrants: OAuthGrantRepository | undefined;
  #sources: SourceRepository | undefined;
  #sourceUse: SourceUseRepository | undefined;
  #events: EventRepository | undefined;
  #eventHistory: EventHistoryRepository | undefined;
  #ledger: LedgerRepository | undefined;
  #ledgerOpenings: LedgerOpeningRepository | undefined;
  #idempotency: IdempotencyRepository | undefined;
  #blobs: BlobRepository | undefined;
  #blobPins: BlobPinRepository | undefined;
  #disk: DiskRepository | undefined;
  #kv: KvRepository | undefined;
  #stateVersions: StateVersionRepository | undefined;
  #files: FileRepository | undefined;
  #uploads: UploadRepository | undefined;
  #fileLinks: FileLinkRepository | undefined;
  #requests: RequestRepository | undefined;
  #requestSearch: RequestSearchRepository | undefined;
  #threads: ThreadRepository | undefined;
  #channels: ChannelRepository | undefined;
  #notices: NoticeRepository | undefined;
  #noticeBudgets: NoticeBudgetRepository | undefined;
  #missingSums: MissingSumsRepository | undefined;
  #rowSums: RowSumRepository | undefined;
  #parks: ParkRepository | undefined;
  #policies: PolicyRepository | undefined;
  #routes: RouteRepository | undefined;
  #deliveries: DeliveryRepository | undefined;
  #callbackSecret: CallbackSecretRepository | undefined;
  #emails: EmailRepository | undefined;
  #emailAddresses: EmailAddressRepository | undefined;
  #eventFiles: EventFileRepository | undefined;
  #mailCopies: MailCopyRepository | undefined;
  #mailThreads: MailThreadRepository | undefined;
  #makers: MakerRepository | undefined;
  #members: MemberRepository | undefined;
  #meta: MetaRepository | undefined;
  #votes: VoteRepository | undefined;

  /** `pinHolder`: see `BlobRepository`. */
  constructor(tx: Tx, projectId: string, pinHolder: string | null = null) {
    this.#tx = tx;
    this.#projectId = projectId;
    this.#pinHolder = pinHolder;
  }

  get activity(): ActivityRepository {
    return (this.#activity ??= new ActivityRepository(this.#tx));
  }

  get browsers(): BrowserRepository {
    return (this.#browsers ??= new BrowserRepository(this.#tx));
  }

  get keys(): KeyRepository {
    return (this.#keys ??= new KeyRepository(this.#tx));
  }

  get oauthGrants(): OAuthGrantRepository {
    return (this.#oauthGrants ??= new OAuthGrantRepository(this.#tx));
  }

  get mailCopies(): MailCopyRepository {
    return (this.#mailCopies ??= new MailCopyRepository(this.#tx));
  }

  get mailThreads(): MailThreadRepository {
    return (this.#mailThreads ??= new MailThreadRepository(this.#tx));
  }

  get sources(): SourceRepository {
    return (this.#sources ??= new SourceRepository(this.#tx));
  }

  get sourceUse(): SourceUseRepository {
    return (this.#sourceUse ??= new SourceUseRepository(this.#tx));
  }

  get events(): EventRepository {
    return (this.#events ??= new EventRepository(this.#tx));
  }

  get eventHistory(): EventHistoryRepository {
    return (this.#eventHistory ??= new EventHistoryRepository(this.#tx));
  }

  get ledger(): LedgerRepository {
    return (this.#ledger ??= new LedgerRepository(this.#tx, this.#projectId));
  }

  get ledgerOpenings(): LedgerOpeningRepository {
    return (this.#ledgerOpenings ??= new LedgerOpeningRepository(this.#tx));
  }

  get idempotency(): IdempotencyRepository {
    return (this.#idempotency ??= new IdempotencyRepository(this.#tx));
  }

  get blobs(): BlobRepository {
    return (this.#blobs ??= new BlobRepository(this.#tx, this.#pinHolder));
  }

  get blobPins(): BlobPinRepository {
    return (this.#blobPins ??= new BlobPinRepository(this.#tx));
  }

  get disk(): DiskRepository {
    return (this.#disk ??= new DiskRepository(this.#tx));
  }

  get kv(): KvRepository {
    return (this.#kv ??= new KvRepository(this.#tx));
  }

  get stateVersions(): StateVersionRepository {
    return (this.#stateVersions ??= new StateVersionRepository(this.#tx));
  }

  get files(): FileRepository {
    return (this.#files ??= new FileRepository(this.#tx));
  }

  get uploads(): UploadRepository {
    return (this.#uploads ??= new UploadRepository(this.#tx));
  }

  get fileLinks(): FileLinkRepository {
    return (this.#fileLinks ??= new FileLinkRepository(this.#tx));
  }

  get requests(): RequestRepository {
    return (this.#requests ??= new RequestRepository(this.#tx));
  }

  get threads(): ThreadRepository {
    return (this.#threads ??= new ThreadRepository(this.#tx));
  }

  get requestSearch(): RequestSearchRepository {
    return (this.#requestSearch ??= new RequestSearchRepository(this.#tx));
  }

  get channels(): ChannelRepository {
    return (this.#channels ??= new ChannelRepository(this.#tx));
  }

  get notices(): NoticeRepository {
    return (this.#notices ??= new NoticeRepository(this.#tx));
  }

  get noticeBudgets(): NoticeBudgetRepository {
    return (this.#noticeBudgets ??= new NoticeBudgetRepository(this.#tx));
  }

  get parks(): ParkRepository {
    return (this.#parks ??= new ParkRepository(this.#tx));
  }

  get policies(): PolicyRepository {
    return (this.#policies ??= new PolicyRepository(this.#tx));
  }

  get routes(): RouteRepository {
    return (this.#routes ??= new RouteRepository(this.#tx));
  }

  get deliveries(): DeliveryRepository {
    return (this.#deliveries ??= new DeliveryRepository(this.#tx));
  }

  get callbackSecret(): CallbackSecretRepository {
    return (this.#callbackSecret ??= new CallbackSecretRepository(this.#tx));
  }

  get emails(): EmailRepository {
    return (this.#emails ??= new EmailRepository(this.#tx));
  }

  get emailAddresses(): EmailAddressRepository {
    return (this.#emailAddresses ??= new EmailAddressRepository(this.#tx));
  }

  get eventFiles(): EventFileRepository {
    return (this.#eventFiles ??= new EventFileRepository(this.#tx));
  }

  get votes(): VoteRepository {
    return (this.#votes ??= new VoteRepository(this.#tx));
  }

  get makers(): MakerRepository {
    return (this.#makers ??= new MakerRepository(this.#tx));
  }

  get members(): MemberRepository {
    return (this.#members ??= new MemberRepository(this.#tx));
  }

  get missingSums(): MissingSumsRepository {
    return (this.#missingSums ??= new MissingSumsRepository(this.#tx));
  }

  get rowSums(): RowSumRepository {
    return (this.#rowSums ??= new RowSumRepository(this.#tx));
  }

  get meta(): MetaRepository {
    return (this.#meta ??= new MetaRepository(this.#tx));
  }
}
