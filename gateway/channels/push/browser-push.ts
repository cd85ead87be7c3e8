import type { Clock } from '../../../shared/lib/clock.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import type { BrowserRow } from '../../../shared/store/tables/access/browsers.ts';
import type { Repositories } from '../../../shared/store/repositories.ts';
import { parseCallbackUrl } from '../../callbacks/callback-url.ts';
import { checkHost } from '../../callbacks/guarded-lookup.ts';
import { CallbackAllow } from '../../callbacks/callback-allow.ts';
import { CallbackSender } from '../../callbacks/post.ts';
import type { BrowserNotices } from '../../approvals/notification-queue.ts';
import type { Notification } from '../../approvals/approvals.ts';
import { resultOf, type PushAnswer } from '../../lib/push/push-answer.ts';
import { browserAad, type PushSubscription } from '../../lib/push/subscription.ts';
import { vapidHeader, vapidKeyAad, type VapidKey } from '../../lib/push/vapid.ts';
import type { SendingProject } from '../../projects/send-queue.ts';
import { encryptPush, PUSH_MAX_BYTES } from './encrypt.ts';
import { pushMessage, testMessage, type PushMessage } from './message.ts';

interface BrowserPushOptions {
  readonly clock: Clock;
  readonly vault: Vault;
  readonly publicUrl: string;
  /** Private addresses that may be called. */
  readonly allow?: CallbackAllow | undefined;
}

const DEADLINE_MS = 10_000;
/** A push service keeps a message this long for a browser that is away. */
const KEPT_SECONDS = 86_400;
/** A later test tells more than an old one. */
const TEST_KEPT_MS = 600_000;

/**
 * Shows people's messages in their browsers, too. A push is tried once: the message itself is what counts, and it's
 * repeated until it arrives. Push services are outside addresses, so they pass the same guard as callbacks.
 */
export class BrowserPush implements BrowserNotices {
  readonly #options: BrowserPushOptions;
  readonly #allow: CallbackAllow;
  readonly #sender: CallbackSender;
  readonly #base: string;

  constructor(options: BrowserPushOptions) {
    this.#options = options;
    this.#allow = options.allow ?? CallbackAllow.none;
    this.#sender = new CallbackSender({ allow: this.#allow, clock: options.clock });
    this.#base = new URL(options.publicUrl).pathname.replace(/\/+$/, '');
  }

  /** CALLBACK_URL_REJECTED if pushes to this address aren't allowed. */
  async check({ endpoint }: PushSubscription): Promise<void> {
    await checkHost(parseCallbackUrl(endpoint, this.#allow), this.#allow);
  }

  async show(
    project: SendingProject,
    channelId: string,
    notification: Notification,
  ): Promise<void> {
    const message = pushMessage(notification, this.#base);
    if (message === null) return;
    await this.#send(project, message, (store) => reachable(store, channelId));
  }

  /** Sends a person's browser a test; null if they have no such browser. */
  async test(
    project: SendingProject,
    channelId: string,
    browserId: string,
  ): Promise<PushAnswer | null> {
    const message = testMessage(project.info, {
      base: this.#base,
      expiresAt: this.#options.clock.now() + TEST_KEPT_MS,
    });
    const [answer] = await this.#send(project, message, async (store) =>
      (await reachable(store, channelId)).filter(({ id }) => id === browserId),
    );
    return answer ?? null;
  }

  /** Sends a message to browsers, and records which got it and which are gone. */
  async #send(
    project: SendingProject,
    message: PushMessage,
    find: (store: Repositories) => Promise<BrowserRow[]>,
  ): Promise<PushAnswer[]> {
    const { browsers, sealedKey } = await project.store.read(async (store) => ({
      browsers: await find(store),
      sealedKey: await store.meta.get('push_key'),
    }));
    if (browsers.length === 0 || !(sealedKey instanceof Uint8Array)) return [];
    const { vault, clock } = this.#options;
    const key = JSON.parse(text(vault.open(vapidKeyAad(project.info.id), sealedKey))) as VapidKey;
    const sent = await Promise.all(
      browsers.map(async (browser) => ({
        browserId: browser.id,
        answer: await this.#push(this.#opened(project, browser), key, message),
        now: clock.now(),
      })),
    );
    const answers = sent.flatMap(({ answer, ...of }) => (answer ? [{ ...of, answer }] : []));
    const known = answers.flatMap(({ answer, ...of }) => {
      const result = resultOf(answer);
      return result ? [{ ...of, result }] : [];
    });
    if (known.length > 0) await project.writes.run('recordPushes', known);
    return answers.map(({ answer }) => answer);
  }

  close(): void {
    this.#sender.close();
  }

  #opened({ info }: SendingProject, { id, subscription }: BrowserRow): PushSubscription {
    const plain = this.#options.vault.open(browserAad(info.id, id), subscription);
    return JSON.parse(text(plain)) as PushSubscription;
  }

  /** Null for a message that is too long or too late. */
  async #push(
    subscription: PushSubscription,
    key: VapidKey,
    { isUrgent, expiresAt, ...shown }: PushMessage,
  ): Promise<PushAnswer | null> {
    const { clock, publicUrl: contact } = this.#options;
    const { endpoint } = subscription;
    const now = clock.now();
    const left = expiresAt === null ? KEPT_SECONDS : Math.ceil((expiresAt - now) / 1000);
    const body = encryptPush(Buffer.from(JSON.stringify(shown)), subscription);
    if (body.length > PUSH_MAX_BYTES || left <= 0) return null;
    const answer = await this.#sender.post({
      url: endpoint,
      body,
      deadlineMs: DEADLINE_MS,
      headers: {
        authorization: vapidHeader(key, { endpoint, contact, now }),
        'content-encoding': 'aes128gcm',
        'content-type': 'application/octet-stream',
        ttl: String(Math.min(left, KEPT_SECONDS)),
        urgency: isUrgent ? 'high' : 'normal',
      },
    });
    const { host } = new URL(endpoint);
    if (answer.kind === 'failed') return { kind: 'failed', host, reason: answer.reason };
    const { status, retryAfterSeconds, response } = answer;
    return { kind: 'answered', host, status, retryAfterSeconds, text: response };
  }
}

async function reachable({ browsers }: Repositories, channelId: string): Promise<BrowserRow[]> {
  return (await browsers.of(channelId)).filter(({ gone_at }) => gone_at === null);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
