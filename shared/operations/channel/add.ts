import { hash } from 'node:crypto';
import * as z from 'zod';
import { isoTime } from '../../lib/clock.ts';
import type { WriteContext } from '../../kernel/context.ts';
import { invalid, ServiceError } from '../../lib/errors.ts';
import { newToken } from '../../lib/ids.ts';
import {
  CHANNEL_EMAIL_LINK_MS,
  CHANNEL_LABEL_MAX_CHARS,
  CHANNEL_RESEND_MS,
  CHANNEL_TELEGRAM_LINK_MS,
  CHANNELS_MAX,
} from '../../lib/limits.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { comparableAddress, maskedAddress } from '../../rules/mail/mail-address.ts';
import type { ChannelRow } from '../../store/tables/people/channels.ts';
import { label, tooSoon } from '../fields.ts';
import { notifyVerify } from '../request/notify.ts';
import { MakerNames } from '../access/maker.ts';
import { refuseAddress } from './address.ts';
import { addressHashText, channelAad, channelView, toChannelView } from './view.ts';

const ADDED_WITHIN_MS = 3_600_000;

export const channelAdd = defineOperation({
  name: 'channel_add',
  summary: 'Add a person agents can ask, by email or Telegram.',
  description:
    'Email sends a confirmation link; Telegram returns a t.me link for the person to open. The channel is active once the owner approves. Calling again for an unconfirmed address sends a new link, once a minute.',
  scope: 'approvals',
  input: z.strictObject({
    kind: z.enum(['email', 'telegram']).describe('How to reach the person.'),
    address: z.string().max(320).optional().describe('Email only: `local@domain`.'),
    label: label(CHANNEL_LABEL_MAX_CHARS)
      .optional()
      .describe('A short name for people and agents (default: the kind).'),
  }),
  output: z.object({
    channel: channelView,
    verification_sent_to: z.string().optional().describe('Email: the masked address.'),
    start_url: z.string().optional().describe('Telegram: the person opens it and taps Start.'),
    expires_at: z.string().describe('When the link expires.'),
  }),
  errors: [
    'CHANNEL_KIND_UNAVAILABLE',
    'CHANNEL_ADDRESS_REJECTED',
    'CHANNEL_EXISTS',
    'RATE_LIMITED',
  ],
  effect: 'write',
  replica: 'upstream',
  rest: { method: 'POST', path: '/v1/channels', status: 201 },
  mcp: { title: 'Add a person to ask', openWorld: true },
  cli: {
    usage: 'channel add <kind> [address]',
    examples: ['channel add email ana@example.com --label ana', 'channel add telegram --label ops'],
  },
  subject: (_input, output) => output.channel?.id,
  example: { kind: 'email', address: 'ana@example.com', label: 'ana' },
}).write({
  prepare: async ({ server }, { kind, address }) => {
    if (!server.channels.includes(kind)) throw new ServiceError('CHANNEL_KIND_UNAVAILABLE');
    if (kind === 'email') return checkedAddress(address, server.mail.domain);
    if (address !== undefined) throw invalid({ path: 'address', message: 'Only for kind email.' });
    // The link contains the bot's name, which we know only after Telegram has answered.
    if (server.telegramBot === null) throw notConnected();
    return null;
  },
  commit: async (context, { kind, label: name = kind }, address) =>
    address === null ? addTelegram(context, name) : addEmail(context, address, name),
  answer: async ({ server }, _input, { token, ...added }) => ({
    ...added,
    ...(token && { start_url: `https://t.me/${server.telegramBot ?? ''}?start=${token}` }),
  }),
});

function notConnected(): ServiceError {
  return new ServiceError('UNAVAILABLE', {
    details: { retry_after: 5 },
    hint: "The Telegram bot isn't connected yet. `svc status`, or /readyz of a gateway, says why.",
  });
}

function checkedAddress(address: string | undefined, ownDomain: string | null): string {
  if (address === undefined) throw invalid({ path: 'address', message: 'Needed for kind email.' });
  refuseAddress(address, ownDomain);
  return address;
}

interface AddResult {
  readonly channel: z.output<typeof channelView>;
  readonly verification_sent_to?: string;
  /** Telegram: the token in the channel's link. */
  readonly token?: string;
  readonly expires_at: string;
}

async function addEmail(context: WriteContext, address: string, name: string): Promise<AddResult> {
  const { store, project, vault } = context;
  const comparable = comparableAddress(address);
  const addressHash = vault.sign(addressHashText(project.id, comparable));
  const known = await store.channels.findByAddress(addressHash);
  if (known && known.status !== 'added') throw new ServiceError('CHANNEL_EXISTS');
  if (known) await refuseTooSoon(context, known.id);
  const masked = maskedAddress(address);
  const channel = known ?? (await insert(context, { kind: 'email', label: name }));
  if (!known) {
    const sealed = vault.seal(channelAad(project.id, channel.id), address);
    await store.channels.setAddress(channel.id, { address: sealed, addressHash, masked });
  }
  const { token, expiresAt } = await newLink(context, channel.id, CHANNEL_EMAIL_LINK_MS);
  await notifyVerify(context, channel.id, token);
  return {
    channel: await toChannelView({ ...channel, masked }, new MakerNames(context)),
    verification_sent_to: masked,
    expires_at: isoTime(expiresAt),
  };
}

async function addTelegram(context: WriteContext, name: string): Promise<AddResult> {
  const channel = await insert(context, { kind: 'telegram', label: name });
  const { token, expiresAt } = await newLink(context, channel.id, CHANNEL_TELEGRAM_LINK_MS);
  return {
    channel: await toChannelView(channel, new MakerNames(context)),
    token,
    expires_at: isoTime(expiresAt),
  };
}

async function insert(
  { store, caller, now, newId }: WriteContext,
  { kind, label: name }: Pick<ChannelRow, 'kind' | 'label'>,
): Promise<ChannelRow> {
  if ((await store.channels.list()).length >= CHANNELS_MAX) {
    throw invalid({ path: 'kind', message: `A project has at most ${CHANNELS_MAX} channels.` });
  }
  await refuseTooMany(store, now);
  const row: ChannelRow = {
    id: newId('chn'),
    kind,
    label: name,
    status: 'added',
    owner: 0,
    address: null,
    address_hash: null,
    masked: null,
    created_at: isoTime(now),
    created_by: caller.keyId,
    verified_at: null,
    activated_at: null,
    last_used_at: null,
    person_of: null,
  };
  await store.channels.insert(row);
  return row;
}

/**
 * Each new address gets a mail that its owner didn't ask for, so a key must not add and remove channels endlessly. A
 * project may add at most CHANNELS_MAX channels in an hour.
 */
async function refuseTooMany({ channels }: WriteContext['store'], now: number): Promise<void> {
  const before = await channels.addedBefore(CHANNELS_MAX);
  const waitMs = before === null ? 0 : Date.parse(before) + ADDED_WITHIN_MS - now;
  if (waitMs > 0) throw tooSoon(waitMs, 'Too many channels were added within an hour.');
}

/** Replaces any earlier link of the channel. */
async function newLink(
  { store, project, now, emit }: WriteContext,
  channelId: string,
  validMs: number,
): Promise<{ token: string; expiresAt: number }> {
  const token = newToken(project.id);
  const expiresAt = now + validMs;
  await store.channels.setToken(channelId, { hash: hash('sha256', token), expiresAt, now });
  emit({ kind: 'due', at: expiresAt });
  return { token, expiresAt };
}

async function refuseTooSoon({ store, now }: WriteContext, channelId: string): Promise<void> {
  const madeAt = await store.channels.tokenMadeAt(channelId);
  if (madeAt === null || now >= madeAt + CHANNEL_RESEND_MS) return;
  const hint = 'A link was sent to this address less than a minute ago.';
  throw tooSoon(madeAt + CHANNEL_RESEND_MS - now, hint);
}
