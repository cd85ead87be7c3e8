import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../../../shared/lib/clock.ts';
import type { Vault } from '../../../../shared/kernel/context.ts';
import { newSecret } from '../../../../shared/lib/ids.ts';
import {
  LOGINS_FROM_STRANGERS,
  LOGINS_PER_EMAIL,
  LOGINS_WINDOW_MS,
  LOGIN_MS,
  NETWORK_KNOWN_MS,
  UI_IDLE_MS,
  UI_LINK_MS,
  UI_SESSION_MS,
} from '../../../../shared/lib/limits.ts';
import { comparableAddress, likelyMailbox } from '../../../../shared/rules/mail/mail-address.ts';
import type {
  UiLinkRow,
  UiSessionRow,
  UiSessionStore,
} from '../../../store/control/ui-sessions.ts';
import type { NetworkOfAddress } from '../../../store/control/known-networks.ts';
import { accountHashText } from '../../../auth/logins.ts';
import { learnedNetwork, networkHashText } from '../../../auth/network.ts';
import { rateLimited } from '../../../auth/start-limit.ts';

/** A key with the hash of the secret that was presented: rotating the secret ends the session. */
interface HeldKey {
  readonly projectId: string;
  readonly keyId: string;
  /** SHA-256 of the secret. */
  readonly keyHash: string;
}

/** Whom a session acts for: a key, or the reader of a mail address. */
export type Holder =
  | ({ readonly kind: 'key' } & HeldKey)
  | { readonly kind: 'owner'; readonly address: string };

/** An open web inbox in someone's browser. */
export interface Session {
  /** SHA-256 of the secret in the cookie. */
  readonly idHash: string;
  readonly holder: Holder;
  readonly expiresAt: number;
}

/** A session with the times that a list shows. */
export interface OpenSession extends Session {
  readonly begunAt: number;
  /** Accurate to five minutes. */
  readonly usedAt: number;
}

/** A valid link into the web inbox. */
export interface Link {
  readonly token: string;
  readonly holder: Holder;
}

interface SessionsDeps {
  readonly store: UiSessionStore;
  readonly clock: Clock;
  readonly vault: Vault;
  /** Called for each session that ends early. */
  readonly onEnded: (idHash: string) => void;
}

const SECRET_BYTES = 32;
const MAKE_ROOM =
  'Sooner: in a mail that you didn’t ask for, open the link and press “I didn’t ask for this”. That makes room at once. Or run svc open on a machine that is signed in.';
/**
 * The least time between two updates of `used_at`. Visits are more frequent than anyone needs to know, and an open page
 * makes requests on its own.
 */
const USE_MS = 5 * 60_000;

/** Links that open the web inbox, each good for one session, and the sessions. Stores secrets only as hashes. */
export class Sessions {
  readonly #deps: SessionsDeps;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** A link for the holder of a key: works once, for a minute. */
  async linkForKey(key: HeldKey): Promise<{
    readonly token: string;
    readonly expiresAt: number;
  }> {
    const token = newSecret();
    const now = this.#deps.clock.now();
    const expiresAt = now + UI_LINK_MS;
    const row = {
      hash: hashOf(token),
      kind: 'key' as const,
      project_id: key.projectId,
      key_id: key.keyId,
      key_hash: key.keyHash,
      address: null,
      rate_hash: null,
      created_at: now,
      expires_at: expiresAt,
    };
    await this.#deps.store.addLink(row, null);
    return { token, expiresAt };
  }

  /** Whether the account with an address knows the network of a client. */
  isKnown(email: string, from: string): Promise<boolean> {
    return this.#deps.store.isKnown(this.#network(comparableAddress(email), from));
  }

  #network(address: string, from: string): NetworkOfAddress {
    const { clock, vault } = this.#deps;
    return {
      addressHash: vault.sign(accountHashText(address)),
      networkHash: vault.sign(networkHashText(from)),
      knownSince: clock.now() - NETWORK_KNOWN_MS,
    };
  }

  /**
   * A link to mail to an address: works once, for 15 minutes. RATE_LIMITED after five an hour per mailbox and network, and
   * ten from networks that its account doesn't know.
   */
  async linkForOwner(email: string, from: string): Promise<string> {
    const { clock, store, vault } = this.#deps;
    const token = newSecret();
    const now = clock.now();
    const address = comparableAddress(email);
    const row = {
      hash: hashOf(token),
      kind: 'owner' as const,
      project_id: null,
      key_id: null,
      key_hash: null,
      address: vault.seal(linkAad(hashOf(token)), address),
      rate_hash: vault.sign(linkRateText(address)),
      created_at: now,
      expires_at: now + LOGIN_MS,
    };
    const since = now - LOGINS_WINDOW_MS;
    const network = this.#network(address, from);
    const limits = { since, perNetwork: LOGINS_PER_EMAIL, strangers: LOGINS_FROM_STRANGERS };
    const inTheWay = await store.addLink(row, { ...limits, network });
    if (inTheWay !== null) throw rateLimited(inTheWay - since, MAKE_ROOM);
    return token;
  }

  /** A session for the reader of an address, who proved it in another way; returns its secret. */
  async beginFor(email: string, from: string): Promise<string | null> {
    const token = newSecret();
    const now = this.#deps.clock.now();
    const address = comparableAddress(email);
    const row = {
      hash: hashOf(token),
      kind: 'owner' as const,
      project_id: null,
      key_id: null,
      key_hash: null,
      address: this.#deps.vault.seal(linkAad(hashOf(token)), address),
      rate_hash: null,
      created_at: now,
      expires_at: now + UI_LINK_MS,
    };
    await this.#deps.store.addLink(row, null);
    return this.begin({ token, holder: { kind: 'owner', address } }, from);
  }

  /** Deletes a link that couldn't be mailed, or that nobody wants: it doesn't count any more. */
  async drop(token: string): Promise<void> {
    await this.#deps.store.dropLink(hashOf(token));
  }

  /** The link, if it is still valid. Looking doesn't use it up. */
  async findLink(token: string): Promise<Link | null> {
    const { clock, store } = this.#deps;
    const row = await store.findLink(hashOf(token));
    if (!row || row.used !== 0 || row.expires_at <= clock.now()) return null;
    return { token, holder: this.#holderOf(row, linkAad(row.hash)) };
  }

  /**
   * Uses a link from a network address and returns the secret of the new session; null if the link isn't valid any more.
   * Who opens a mailed link vouches for the network they are in.
   */
  async begin({ token, holder }: Link, from: string): Promise<string | null> {
    const { clock, store, vault } = this.#deps;
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const idHash = hashOf(secret);
    const now = clock.now();
    const isKey = holder.kind === 'key';
    const session = {
      id_hash: idHash,
      kind: holder.kind,
      project_id: isKey ? holder.projectId : null,
      key_id: isKey ? holder.keyId : null,
      key_hash: isKey ? holder.keyHash : null,
      address: isKey ? null : vault.seal(sessionAad(idHash), holder.address),
      created_at: now,
      expires_at: now + UI_SESSION_MS,
      used_at: now,
    };
    const opening = isKey
      ? null
      : {
          addressHash: vault.sign(accountHashText(holder.address)),
          network: learnedNetwork(vault, from, now),
        };
    const begun = await store.useLink(hashOf(token), session, opening);
    return begun ? secret : null;
  }

  /** The session of a cookie; null if there is none or it has ended. */
  async find(secret: string): Promise<Session | null> {
    const { clock, store } = this.#deps;
    const now = clock.now();
    const row = await store.find(hashOf(secret), now);
    if (!row || now - row.used_at >= UI_IDLE_MS) return null;
    if (now - row.used_at >= USE_MS) await store.touch(row.id_hash, now);
    const holder = this.#holderOf(row, sessionAad(row.id_hash));
    return { idHash: row.id_hash, holder, expiresAt: row.expires_at };
  }

  async end({ idHash }: Session): Promise<void> {
    const { onEnded, store } = this.#deps;
    await store.end(idHash);
    onEnded(idHash);
  }

  /** Active sessions of a key, newest first. */
  async ofKey({ projectId, keyId }: Pick<HeldKey, 'projectId' | 'keyId'>): Promise<OpenSession[]> {
    const rows = await this.#deps.store.ofKeys(projectId, keyId, this.#holding());
    return rows.flatMap((row) => this.#opened(row));
  }

  /** Active sessions of all keys of a project, and of the owner with this address. */
  async ofOwner(address: string | null, projectId: string): Promise<OpenSession[]> {
    const { store } = this.#deps;
    const ofOwners = address === null ? [] : await store.ofOwners(this.#holding());
    const own = ofOwners
      .flatMap((row) => this.#opened(row))
      .filter(({ holder }) => holder.kind === 'owner' && holder.address === address);
    const ofKeys = await store.ofKeys(projectId, null, this.#holding());
    return [...own, ...ofKeys.flatMap((row) => this.#opened(row))];
  }

  #holding(): { readonly now: number; readonly usedAfter: number } {
    const now = this.#deps.clock.now();
    return { now, usedAfter: now - UI_IDLE_MS };
  }

  /** Skips a session that we can't decrypt: it opens no page either, and may be someone else's. */
  #opened(row: UiSessionRow): OpenSession[] {
    const { id_hash: idHash, expires_at: expiresAt, created_at: begunAt, used_at: usedAt } = row;
    try {
      const holder = this.#holderOf(row, sessionAad(idHash));
      return [{ idHash, holder, expiresAt, begunAt, usedAt }];
    } catch {
      return [];
    }
  }

  #holderOf(row: Pick<UiLinkRow | UiSessionRow, keyof HolderRow>, frame: string): Holder {
    const { kind, project_id: projectId, key_id: keyId, key_hash: keyHash, address } = row;
    if (kind === 'key') {
      return { kind, projectId: projectId ?? '', keyId: keyId ?? '', keyHash: keyHash ?? '' };
    }
    const plain = this.#deps.vault.open(frame, address ?? new Uint8Array());
    return { kind, address: Buffer.from(plain).toString('utf8') };
  }
}

type HolderRow = Pick<UiSessionRow, 'kind' | 'project_id' | 'key_id' | 'key_hash' | 'address'>;

function hashOf(secret: string): string {
  return hash('sha256', secret);
}

/** The additional data that binds the sealed address to its link. */
export function linkAad(linkHash: string): string {
  return `ui_link|${linkHash}|address`;
}

/** The text that we sign to count the links sent to a mailbox. */
export function linkRateText(address: string): string {
  return `ui|rate|1|${likelyMailbox(address)}`;
}

/** The additional data that binds the sealed address to its session. */
export function sessionAad(idHash: string): string {
  return `ui_session|${idHash}|address`;
}
