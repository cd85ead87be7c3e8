import { hash } from 'node:crypto';
import type { Vault } from '../../shared/kernel/context.ts';
import {
  addressHashText,
  channelPlace,
  telegramText,
} from '../../shared/operations/channel/view.ts';
import { callbackSecretPlace } from '../../shared/operations/request/callback-secret.ts';
import { noticePlace } from '../../shared/operations/request/notify.ts';
import { routePlace } from '../../shared/operations/route/view.ts';
import { sourcePlace } from '../../shared/operations/source/view.ts';
import { comparableAddress } from '../../shared/rules/mail-address.ts';
import { replyTokenOf, reportToken } from '../../shared/operations/email/project-address.ts';
import type { Row } from '../../shared/store/driver.ts';
import type { SealedColumn } from '../store/sealed-store.ts';
import { keptAnswerPlace } from '../commit/idempotency.ts';
import { SAMPLE_PLACE } from '../projects/open-control.ts';
import { ledgerKeyPlace } from '../commit/recorder.ts';
import { accountHashText, accountPlace, loginPlace, loginRateText } from '../auth/logins.ts';
import { linkPlace, linkRateText, sessionPlace } from '../web/inbox/sessions.ts';

/** A column that is sealed with the master key, and the keyed hashes of what is sealed there. */
export interface SealedValue extends SealedColumn {
  /** Where the value of a row is sealed for. */
  readonly place: (row: Row, projectId: string) => string;
  /** What is signed for other columns of the row, made of the value: whoever looks it up signs the same. */
  readonly signed?: (
    plain: string,
    row: Row,
    projectId: string,
  ) => Readonly<Record<string, string>>;
}

/** All there is of them in the control database. A column that is sealed and not here would be lost with the old key. */
export const CONTROL_VALUES: readonly SealedValue[] = [
  {
    table: 'account',
    column: 'address',
    key: ['id'],
    beside: ['address_hash'],
    place: ({ id }) => accountPlace(String(id)),
    signed: (address) => ({ address_hash: accountHashText(address) }),
  },
  {
    table: 'login',
    column: 'address',
    key: ['id_hash'],
    beside: ['address_hash', 'rate_hash'],
    place: (row) => loginPlace(String(row['id_hash']), 'address'),
    signed: (address) => ({
      address_hash: accountHashText(address),
      rate_hash: loginRateText(address),
    }),
  },
  {
    table: 'login',
    column: 'answer',
    key: ['id_hash'],
    place: (row) => loginPlace(String(row['id_hash']), 'answer'),
  },
  {
    table: 'ui_link',
    column: 'address',
    key: ['hash'],
    beside: ['rate_hash'],
    place: (row) => linkPlace(String(row['hash'])),
    signed: (address) => ({ rate_hash: linkRateText(address) }),
  },
  {
    table: 'ui_session',
    column: 'address',
    key: ['id_hash'],
    place: (row) => sessionPlace(String(row['id_hash'])),
  },
  {
    table: 'meta',
    column: 'value',
    key: ['name'],
    only: 'key_sample',
    place: () => SAMPLE_PLACE,
  },
];

/** All there is of them in the database of a project. */
export const PROJECT_VALUES: readonly SealedValue[] = [
  {
    table: 'meta',
    column: 'value',
    key: ['name'],
    only: 'ledger_key',
    place: (_row, projectId) => ledgerKeyPlace(projectId),
  },
  {
    table: 'source',
    column: 'secret',
    key: ['id'],
    place: ({ id }, projectId) => sourcePlace('secret', projectId, String(id)),
  },
  {
    table: 'source',
    column: 'previous_secret',
    key: ['id'],
    place: ({ id }, projectId) => sourcePlace('previous_secret', projectId, String(id)),
  },
  {
    table: 'source',
    column: 'token',
    key: ['id'],
    place: ({ id }, projectId) => sourcePlace('token', projectId, String(id)),
  },
  {
    table: 'route',
    column: 'secret',
    key: ['id'],
    place: ({ id }, projectId) => routePlace(projectId, String(id)),
  },
  {
    table: 'callback_secret',
    column: 'secret',
    key: ['id'],
    place: (_row, projectId) => callbackSecretPlace(projectId),
  },
  {
    table: 'callback_secret',
    column: 'previous',
    key: ['id'],
    place: (_row, projectId) => callbackSecretPlace(projectId),
  },
  {
    table: 'channel',
    column: 'address',
    key: ['id'],
    beside: ['kind', 'address_hash'],
    place: ({ id }, projectId) => channelPlace(projectId, String(id)),
    signed: (address, { kind }, projectId) => ({
      address_hash: addressHashText(
        projectId,
        kind === 'telegram' ? telegramText(chatOf(address)) : comparableAddress(address),
      ),
    }),
  },
  {
    table: 'notice',
    column: 'token',
    key: ['id'],
    place: ({ id }, projectId) => noticePlace(projectId, String(id)),
  },
  {
    table: 'idempotency',
    column: 'committed',
    key: ['key_id', 'idempotency_key'],
    place: ({ key_id, idempotency_key }, projectId) =>
      keptAnswerPlace(projectId, String(key_id), String(idempotency_key)),
  },
];

function chatOf(address: string): { chatId: number; userId: number } {
  return JSON.parse(address) as { chatId: number; userId: number };
}

/** What finds a message by the address that answers to it come back to. It is made of no sealed value, but of the id. */
export function messageHash(vault: Vault, projectId: string, messageId: string): string {
  return hash('sha256', replyTokenOf(reportToken(vault, projectId, messageId)));
}
