import { isoTime } from '../../../../shared/lib/clock.ts';
import {
  ACTIVE_KEYS_MAX,
  OAUTH_CODE_MS,
  OAUTH_OVERLAP_MS,
  OAUTH_TOKEN_MS,
} from '../../../../shared/lib/limits.ts';
import type { Scope } from '../../../../shared/lib/scopes.ts';
import { endKeyWithAll } from '../../../../shared/operations/access/end.ts';
import { resolveRequest } from '../../../../shared/operations/request/resolve.ts';
import { tellOwnersBut } from '../../../../shared/operations/access/tell.ts';
import { actorNamed, SERVICE, type Actor } from '../../../../shared/rules/actor.ts';
import { withinRole } from '../../../../shared/rules/roles.ts';
import type { KeyRecord } from '../../../../shared/store/tables/access/keys.ts';
import type { OAuthGrantRow } from '../../../../shared/store/tables/access/oauth-grants.ts';
import type { ApprovalContext } from '../../../../shared/kernel/context.ts';
import { approvalContext } from '../../context/approval-context.ts';
import type { Command, Job } from '../../context/job.ts';

// Only hashes of codes and tokens come here. Renewals have no ledger entry: one an hour for each client would bury the rest.

interface Consent {
  readonly keyId: string;
  readonly name: string;
  /** The host that the person was shown. */
  readonly client: string;
  readonly clientId: string;
  readonly scopes: readonly Scope[];
  /** Who lets the client in: an account's id may change, and this one never does. */
  readonly memberId: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly codeHash: string;
  readonly codeChallenge: string;
  /** A hash that no secret has. */
  readonly emptyHash: string;
  readonly endsAt: number;
  readonly now: number;
}

/**
 * `full`: the project has the maximum number of keys. `changed`: the person has left since they saw the page, or their
 * role may not have these scopes any more.
 */
export type ConsentOutcome = 'granted' | 'full' | 'changed';

/** Lets a client in, once it brings its code. */
export const oauthConsent: Command<Consent, ConsentOutcome> = {
  async run({ store }, { keyId, name, client, scopes, memberId, now, ...grant }) {
    const member = await store.members.find(memberId);
    if (member?.status !== 'active') return 'changed';
    if (withinRole(scopes, member.role).join() !== scopes.join()) return 'changed';
    for (const unused of await store.oauthGrants.unused(now)) await store.oauthGrants.drop(unused);
    if ((await store.keys.active(isoTime(now))).length >= ACTIVE_KEYS_MAX) return 'full';
    const codeExpiresAt = now + OAUTH_CODE_MS;
    await store.keys.insert({
      id: keyId,
      name,
      hash: grant.emptyHash,
      last4: '----',
      scopes: [...scopes],
      disk_prefixes: null,
      created_at: isoTime(now),
      created_by: memberId,
      expires_at: isoTime(codeExpiresAt),
      client,
    });
    await store.oauthGrants.insert({
      key_id: keyId,
      client_id: grant.clientId,
      resource: grant.resource,
      redirect_uri: grant.redirectUri,
      ends_at: isoTime(grant.endsAt),
      code_hash: grant.codeHash,
      code_challenge: grant.codeChallenge,
      code_expires_at: codeExpiresAt,
    });
    return 'granted';
  },
};

/** A new access token and refresh token. */
interface NewTokens {
  readonly hash: string;
  readonly last4: string;
  readonly familyHash: string;
  readonly refreshHash: string;
}

/** What a client got, or the error of RFC 6749 with the reason. */
export type IssueOutcome =
  | { readonly outcome: 'issued'; readonly scopes: readonly Scope[]; readonly expiresAt: number }
  | {
      readonly outcome: 'invalid_grant' | 'invalid_target';
      readonly reason: string;
    };

interface Exchange {
  readonly codeHash: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Null if the client named none. */
  readonly resource: string | null;
  readonly codeChallenge: string;
  readonly tokens: NewTokens;
  readonly now: number;
}

/**
 * Takes a code, once: a wrong attempt ends it, and a second one ends the grant. A used code alone ends nothing, because old
 * codes lie in histories and logs; the client's id and verifier must come with it.
 */
export const oauthExchange: Command<Exchange, IssueOutcome> = {
  async run(job, { codeHash, tokens, now, ...sent }) {
    const { store, ledgerWriter } = job;
    const grant = await store.oauthGrants.findByCode(codeHash);
    const key = grant && (await store.keys.find(grant.key_id));
    if (!grant || !key) return refused('The code is unknown or has expired.');
    if (grant.family_hash !== null) {
      const isTheirs =
        grant.client_id === sent.clientId && grant.code_challenge === sent.codeChallenge;
      if (isTheirs && key.revoked_at === null) await endGrant(job, key, { by: SERVICE, now });
      return refused('The code was used before.');
    }
    const wrong = wrongPart(grant, sent, now) ?? (key.revoked_at !== null ? 'key' : null);
    if (wrong !== null) {
      await store.oauthGrants.drop(key.id);
      return refused(`The code is not valid with this ${wrong}.`);
    }
    const { scopes, name, created_by, client } = key;
    const inputDigest = ledgerWriter.digest({ name, scopes, created_by, client });
    const actor = actorNamed(created_by ?? SERVICE.id);
    const action = { actor, op: 'key.created', subject: key.id, inputDigest };
    await ledgerWriter.record(store, action, now);
    await tellOfAdmin(approvalContext(job, now, actor), key);
    return issue(job, { grant, key, tokens, now });
  },
};

/** Tells owners of an app with admin, but not the one who let it in. */
async function tellOfAdmin(
  context: ApprovalContext,
  { id, scopes, created_by: memberId }: KeyRecord,
): Promise<void> {
  if (!scopes.includes('admin')) return;
  const person = await context.store.members.find(memberId ?? '');
  await tellOwnersBut(context, id, person?.channel_id ?? null);
}

function wrongPart(
  grant: OAuthGrantRow,
  sent: Pick<Exchange, 'clientId' | 'redirectUri' | 'resource' | 'codeChallenge'>,
  now: number,
): string | null {
  if (grant.code_expires_at <= now) return 'time';
  if (grant.client_id !== sent.clientId) return 'client_id';
  if (grant.redirect_uri !== sent.redirectUri) return 'redirect_uri';
  if (grant.code_challenge !== sent.codeChallenge) return 'code_verifier';
  return sent.resource !== null && sent.resource !== grant.resource ? 'resource' : null;
}

interface Refresh {
  readonly familyHash: string;
  readonly refreshHash: string;
  readonly clientId: string;
  readonly resource: string | null;
  readonly tokens: NewTokens;
  readonly now: number;
}

/** Takes a refresh token, once: a second attempt means that two have it, so it ends the grant. */
export const oauthRefresh: Command<Refresh, IssueOutcome> = {
  async run(job, { familyHash, refreshHash, clientId, resource, tokens, now }) {
    const { store } = job;
    const grant = await store.oauthGrants.findByFamily(familyHash);
    const key = grant && (await store.keys.find(grant.key_id));
    if (!grant || !key || grant.client_id !== clientId) {
      return refused('The refresh token is unknown, or belongs to another client.');
    }
    if (key.revoked_at !== null || grant.ends_at <= isoTime(now)) {
      return refused('The access has ended. Sign in again.');
    }
    if (grant.refresh_hash !== refreshHash) {
      await endGrant(job, key, { by: SERVICE, now });
      return refused('The refresh token was used before, so the access has ended. Sign in again.');
    }
    if (resource !== null && resource !== grant.resource) {
      return { outcome: 'invalid_target', reason: 'The tokens are for another resource.' };
    }
    return issue(job, { grant, key, tokens, now });
  },
};

interface Revocation {
  /** Of an access token, or of the family of a refresh token. */
  readonly hash: string;
  /** Null if the client didn't say who it is. */
  readonly clientId: string | null;
  readonly now: number;
}

/** Ends the grant of a token. An unknown token, another client's, and a key of no client stay as they are. */
export const oauthRevoke: Command<Revocation, null> = {
  async run(job, { hash, clientId, now }) {
    const { oauthGrants, keys } = job.store;
    const presented = (await keys.present(hash, isoTime(now))).key;
    const grant = presented
      ? await oauthGrants.find(presented.id)
      : await oauthGrants.findByFamily(hash);
    const key = grant && (await keys.find(grant.key_id));
    if (!grant || !key || (clientId !== null && clientId !== grant.client_id)) return null;
    if (key.revoked_at === null) await endGrant(job, key, { by: actorNamed(key.id), now });
    return null;
  },
};

interface Issue {
  readonly grant: OAuthGrantRow;
  readonly key: KeyRecord;
  readonly tokens: NewTokens;
  readonly now: number;
}

async function issue(
  { store, emit }: Job,
  { grant, key, tokens, now }: Issue,
): Promise<IssueOutcome> {
  const endsAt = Date.parse(grant.ends_at);
  const expiresAt = Math.min(now + OAUTH_TOKEN_MS, endsAt);
  const before = Date.parse(key.secret_expires_at ?? isoTime(now));
  await store.keys.renew(key.id, {
    hash: tokens.hash,
    last4: tokens.last4,
    previousUntil: isoTime(Math.min(before, now + OAUTH_OVERLAP_MS)),
    secretExpiresAt: isoTime(expiresAt),
    expiresAt: grant.ends_at,
  });
  await store.oauthGrants.setRefresh(key.id, tokens);
  emit({ kind: 'keys_changed' });
  return { outcome: 'issued', scopes: key.scopes, expiresAt };
}

async function endGrant(
  job: Job,
  key: KeyRecord,
  { by, now }: { readonly by: Actor; readonly now: number },
): Promise<void> {
  const context = approvalContext(job, now, by);
  await context.record('key.revoked', key.id);
  await endKeyWithAll(context, key.id, {
    because: 'the access of the app that made it ended',
    resolve: resolveRequest,
  });
}

function refused(reason: string): IssueOutcome {
  return { outcome: 'invalid_grant', reason };
}
