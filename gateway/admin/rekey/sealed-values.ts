import { hash } from 'node:crypto';
import type { Vault } from '../../../shared/kernel/context.ts';
import {
  addressHashText,
  channelAad,
  telegramText,
} from '../../../shared/operations/channel/view.ts';
import { memberAad } from '../../../shared/operations/member/view.ts';
import { callbackSecretAad } from '../../../shared/operations/request/callback-secret.ts';
import { noticeAad } from '../../../shared/operations/request/notify.ts';
import { routeAad } from '../../../shared/operations/route/view.ts';
import { sourceAad } from '../../../shared/operations/source/view.ts';
import { comparableAddress } from '../../../shared/rules/mail/mail-address.ts';
import { replyTokenOf, reportToken } from '../../../shared/operations/email/project-address.ts';
import { chatAad, chatHashText } from '../../approvals/chat-directory.ts';
import type { Row } from '../../../shared/store/engine/driver.ts';
import type { SealedColumn } from '../../store/sealed-store.ts';
import { idempotencyAad } from '../../commit/context/idempotency.ts';
import { SAMPLE_PLACE } from '../../projects/open-control.ts';
import { ledgerKeyAad } from '../../commit/context/ledger-writer.ts';
import { browserAad } from '../../lib/push/subscription.ts';
import { vapidKeyAad } from '../../lib/push/vapid.ts';
import { accountHashText, accountAad, loginAad, loginRateText } from '../../auth/logins.ts';
import { membershipAad } from '../../auth/member-directory.ts';
import { networkAad, networkHashText } from '../../auth/network.ts';
import { invitationAad, mailboxHashText } from '../../auth/sign-up.ts';
import { linkAad, linkRateText, sessionAad } from '../../web/inbox/session/sessions.ts';

/** A column sealed with the master key, and the keyed hashes of its values. */
export interface SealedValue extends SealedColumn {
  /** The `aad` of a row's value. */
  readonly aad: (row: Row, projectId: string) => string;
  /** Hashes of the value for other columns of the row; lookups compute the same hash. */
  readonly signed?: (
    plain: string,
    row: Row,
    projectId: string,
  ) => Readonly<Record<string, string>>;
}

/** All sealed columns of the control database. A sealed column missing here would be lost with the old key. */
export const CONTROL_VALUES: readonly SealedValue[] = [
  {
    table: 'account',
    column: 'address',
    key: ['id'],
    beside: ['address_hash', 'mailbox_hash'],
    aad: ({ id }) => accountAad(String(id)),
    signed: (address) => ({
      address_hash: accountHashText(address),
      mailbox_hash: mailboxHashText(address),
    }),
  },
  {
    table: 'invitation',
    column: 'address',
    key: ['id'],
    beside: ['mailbox_hash'],
    aad: ({ id }) => invitationAad(String(id)),
    signed: (address) => ({ mailbox_hash: mailboxHashText(address) }),
  },
  {
    table: 'membership',
    column: 'address',
    key: ['project_id', 'member_id'],
    beside: ['address_hash'],
    aad: (row) => membershipAad(String(row['project_id']), String(row['member_id'])),
    signed: (address) => ({ address_hash: accountHashText(address) }),
  },
  {
    table: 'telegram_chat',
    column: 'chat',
    key: ['project_id', 'chat_hash'],
    aad: ({ project_id }) => chatAad(String(project_id)),
    signed: (chat) => ({ chat_hash: chatHashText(chat) }),
  },
  {
    table: 'login',
    column: 'address',
    key: ['id_hash'],
    beside: ['address_hash', 'rate_hash'],
    aad: (row) => loginAad(String(row['id_hash']), 'address'),
    signed: (address) => ({
      address_hash: accountHashText(address),
      rate_hash: loginRateText(address),
    }),
  },
  {
    table: 'login',
    column: 'answer',
    key: ['id_hash'],
    aad: (row) => loginAad(String(row['id_hash']), 'answer'),
  },
  {
    table: 'known_network',
    column: 'network',
    key: ['account_id', 'network_hash'],
    aad: ({ account_id }) => networkAad(String(account_id)),
    signed: (network) => ({ network_hash: networkHashText(network) }),
  },
  {
    table: 'ui_link',
    column: 'address',
    key: ['hash'],
    beside: ['rate_hash'],
    aad: (row) => linkAad(String(row['hash'])),
    signed: (address) => ({ rate_hash: linkRateText(address) }),
  },
  {
    table: 'ui_session',
    column: 'address',
    key: ['id_hash'],
    aad: (row) => sessionAad(String(row['id_hash'])),
  },
  {
    table: 'meta',
    column: 'value',
    key: ['name'],
    only: 'key_sample',
    aad: () => SAMPLE_PLACE,
  },
];

/** All sealed columns of a project's database. */
export const PROJECT_VALUES: readonly SealedValue[] = [
  {
    table: 'meta',
    column: 'value',
    key: ['name'],
    only: 'ledger_key',
    aad: (_row, projectId) => ledgerKeyAad(projectId),
  },
  {
    table: 'meta',
    column: 'value',
    key: ['name'],
    only: 'push_key',
    aad: (_row, projectId) => vapidKeyAad(projectId),
  },
  {
    table: 'browser',
    column: 'subscription',
    key: ['id'],
    aad: ({ id }, projectId) => browserAad(projectId, String(id)),
  },
  {
    table: 'source',
    column: 'secret',
    key: ['id'],
    aad: ({ id }, projectId) => sourceAad('secret', projectId, String(id)),
  },
  {
    table: 'source',
    column: 'previous_secret',
    key: ['id'],
    aad: ({ id }, projectId) => sourceAad('previous_secret', projectId, String(id)),
  },
  {
    table: 'source',
    column: 'token',
    key: ['id'],
    aad: ({ id }, projectId) => sourceAad('token', projectId, String(id)),
  },
  {
    table: 'route',
    column: 'secret',
    key: ['id'],
    aad: ({ id }, projectId) => routeAad(projectId, String(id)),
  },
  {
    table: 'callback_secret',
    column: 'secret',
    key: ['id'],
    aad: (_row, projectId) => callbackSecretAad(projectId),
  },
  {
    table: 'callback_secret',
    column: 'previous',
    key: ['id'],
    aad: (_row, projectId) => callbackSecretAad(projectId),
  },
  {
    table: 'channel',
    column: 'address',
    key: ['id'],
    beside: ['kind', 'address_hash'],
    aad: ({ id }, projectId) => channelAad(projectId, String(id)),
    signed: (address, { kind }, projectId) => ({
      address_hash: addressHashText(
        projectId,
        kind === 'telegram' ? telegramText(chatOf(address)) : comparableAddress(address),
      ),
    }),
  },
  {
    table: 'member',
    column: 'address',
    key: ['id'],
    beside: ['address_hash'],
    aad: ({ id }, projectId) => memberAad(projectId, String(id)),
    signed: (address, _row, projectId) => ({
      address_hash: addressHashText(projectId, comparableAddress(address)),
    }),
  },
  {
    table: 'notice',
    column: 'token',
    key: ['id'],
    aad: ({ id }, projectId) => noticeAad(projectId, String(id)),
  },
  {
    table: 'idempotency',
    column: 'committed',
    key: ['key_id', 'idempotency_key'],
    aad: ({ key_id, idempotency_key }, projectId) =>
      idempotencyAad(projectId, String(key_id), String(idempotency_key)),
  },
];

function chatOf(address: string): { chatId: number; userId: number } {
  return JSON.parse(address) as { chatId: number; userId: number };
}

/** The hash that finds a message by its reply address. It's made from the id, not from a sealed value. */
export function messageHash(vault: Vault, projectId: string, messageId: string): string {
  return hash('sha256', replyTokenOf(reportToken(vault, projectId, messageId)));
}
