import type { Clock } from '../../../shared/lib/clock.ts';
import type { Vault } from '../../../shared/kernel/context.ts';
import type { BrowserRow } from '../../../shared/store/browsers.ts';
import { parseCallbackUrl } from '../../callbacks/callback-url.ts';
import { checkHost } from '../../callbacks/guarded-lookup.ts';
import { CallbackAllow } from '../../callbacks/callback-allow.ts';
import { CallbackSender } from '../../callbacks/post.ts';
import type { BrowserNotices } from '../../approvals/notification-queue.ts';
import type { Notification } from '../../lib/approvals.ts';
import { browserAad, type PushSubscription } from '../../lib/push/subscription.ts';
import { vapidHeader, vapidKeyAad, type VapidKey } from '../../lib/push/vapid.ts';
import type { SendingProject } from '../../projects/send-queue.ts';
import { encryptPush, PUSH_MAX_BYTES } from './encrypt.ts';
import { pushMessage, type PushMessage } from './message.ts';

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
/** There is no such browser any more (RFC 8030), or it was added with another key. */
const GONE: readonly number[] = [403, 404, 410];

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
    const { browsers, sealedKey } = await project.store.read(async (store) => ({
      browsers: (await store.browsers.of(channelId)).filter(({ gone_at }) => gone_at === null),
      sealedKey: await store.meta.get('push_key'),
    }));
    if (browsers.length === 0 || !(sealedKey instanceof Uint8Array)) return;
    const { vault, clock } = this.#options;
    const key = JSON.parse(text(vault.open(vapidKeyAad(project.info.id), sealedKey))) as VapidKey;
    const results = await Promise.all(
      browsers.map(async (browser) => ({
        browserId: browser.id,
        result: await this.#push(this.#opened(project, browser), key, message),
        now: clock.now(),
      })),
    );
    const known = results.flatMap(({ result, ...of }) => (result ? [{ ...of, result }] : []));
    if (known.length > 0) await project.writes.run('recordPushes', known);
  }

  close(): void {
    this.#sender.close();
  }

  #opened({ info }: SendingProject, { id, subscription }: BrowserRow): PushSubscription {
    const plain = this.#options.vault.open(browserAad(info.id, id), subscription);
    return JSON.parse(text(plain)) as PushSubscription;
  }

  /** Null if it's unknown whether the browser will get it. */
  async #push(
    subscription: PushSubscription,
    key: VapidKey,
    { isUrgent, expiresAt, ...shown }: PushMessage,
  ): Promise<'sent' | 'gone' | null> {
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
    if (answer.kind !== 'answered') return null;
    if (GONE.includes(answer.status)) return 'gone';
    return answer.status >= 200 && answer.status < 300 ? 'sent' : null;
  }
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
