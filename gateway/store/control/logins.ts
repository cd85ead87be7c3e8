import { effectiveLoginState, type LoginState } from './login-state.ts';
import type { Reader, Tx, Writer } from '../../../shared/store/engine/driver.ts';
import { addAccount, IS_MEMBER, type NewAccount } from './accounts.ts';
import { admissionOf, standingOf, type AddressHashes } from './standing.ts';
import {
  isKnownNetwork,
  learnNetwork,
  type LearnedNetwork,
  type NetworkOfAddress,
} from './known-networks.ts';
import { byId, byLink, keepAnswer, markUsed, type LoginRow, type LoginUse } from './login-rows.ts';
import { takeShare, type StartLimits } from './start-shares.ts';

export type NewLogin = Pick<
  LoginRow,
  | 'id_hash'
  | 'link_hash'
  | 'user_code'
  | 'address'
  | 'address_hash'
  | 'rate_hash'
  | 'masked'
  | 'client'
  | 'created_at'
  | 'expires_at'
>;

interface Fresh {
  readonly account: NewAccount & AddressHashes;
  /** The settings let this address have an account. */
  readonly isAllowed: boolean;
}

interface Times {
  readonly now: number;
  readonly expiresAt: number;
}

interface Starting extends StartLimits {
  readonly keptSince: number;
  readonly network: NetworkOfAddress;
}

/** What a person does on the page of a sign-in. */
interface Confirming extends Times {
  /** Whether they typed this code. */
  readonly isCode: (code: string) => boolean;
  /** How often they may type another one. */
  readonly codesMax: number;
  readonly network: LearnedNetwork;
}

type Usage =
  | { readonly outcome: 'used'; readonly accountId: string }
  | { readonly outcome: 'no_project' }
  | { readonly outcome: 'refused'; readonly state: Exclude<LoginState, 'confirmed'> };

/** Pending sign-ins, in the control database. */
export class LoginStore {
  readonly #reader: Reader;
  readonly #writer: Writer;

  constructor(reader: Reader, writer: Writer) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /**
   * Stores a new sign-in. At the limit of its mailbox and network, returns the start (ms) of the one that must age first; null if it
   * is stored.
   */
  begin(login: NewLogin, { keptSince, network, ...limits }: Starting): Promise<number | null> {
    return this.#writer.write(async (tx) => {
      await tidy(tx, keptSince, login.created_at);
      const start = { rateHash: login.rate_hash, network };
      const taken = await takeShare(tx, 'login', start, limits);
      if ('inTheWay' in taken) return taken.inTheWay;
      await insert(tx, login, { share: taken.share, networkHash: network.networkHash });
      return null;
    });
  }

  /** Whether the account with an address confirmed a sign-in from this network. */
  isKnown(network: NetworkOfAddress): Promise<boolean> {
    return this.#reader.read((tx) => isKnownNetwork(tx, network));
  }

  find(idHash: string): Promise<LoginRow | undefined> {
    return this.#reader.read((tx) => byId(tx, idHash));
  }

  findByLink(linkHash: string): Promise<LoginRow | undefined> {
    return this.#reader.read((tx) => byLink(tx, linkHash));
  }

  /**
   * Confirms a waiting sign-in for the account with its address, which becomes `account` if there is none yet. Denies it
   * if the address may not have an account any more, or after the last wrong code.
   */
  async confirm(
    linkHash: string,
    { account, isAllowed }: Fresh,
    { now, expiresAt, isCode, codesMax, network }: Confirming,
  ): Promise<void> {
    await this.#writer.write(async (tx) => {
      const login = await byLink(tx, linkHash);
      if (!login || effectiveLoginState(login, now) !== 'waiting') return;
      if (!isCode(login.user_code)) {
        await tx.put('UPDATE login SET wrong_codes = wrong_codes + 1 WHERE id_hash = ?', [
          login.id_hash,
        ]);
        return login.wrong_codes + 1 >= codesMax ? deny(tx, linkHash) : undefined;
      }
      const standing = await standingOf(tx, account);
      if (admissionOf(standing, isAllowed) !== 'welcome') return deny(tx, linkHash);
      const accountId = await addAccount(tx, account);
      await tx.put(
        "UPDATE login SET state = 'confirmed', account_id = ?, expires_at = ? WHERE id_hash = ?",
        [accountId, expiresAt, login.id_hash],
      );
      await learnNetwork(tx, accountId, { ...network, now });
    });
  }

  /** Denies a waiting sign-in, because somebody else started it. */
  async deny(linkHash: string): Promise<void> {
    await this.#writer.write((tx) => deny(tx, linkHash));
  }

  /** Uses up a confirmed sign-in for an action in a project of its account. */
  useFor(use: LoginUse, projectId: string): Promise<Usage> {
    return this.#writer.write(async (tx): Promise<Usage> => {
      const login = await byId(tx, use.idHash);
      const state = login ? effectiveLoginState(login, use.now) : 'expired';
      if (state !== 'confirmed') return { outcome: 'refused', state };
      const accountId = login?.account_id ?? '';
      const project = await tx.get(
        `SELECT id FROM project WHERE id = ?2 AND (account_id = ?1 OR ${IS_MEMBER}) AND state NOT IN ('reserved', 'deleting')`,
        [accountId, projectId],
      );
      if (!project) return { outcome: 'no_project' };
      await markUsed(tx, use);
      return { outcome: 'used', accountId };
    });
  }

  /** Makes a used sign-in usable again after its action failed. */
  async giveBack(idHash: string): Promise<void> {
    await this.#writer.write((tx) =>
      tx.put(
        "UPDATE login SET state = 'confirmed', repeat_hash = NULL WHERE id_hash = ? AND state = 'used'",
        [idHash],
      ),
    );
  }

  /** Stores the sealed answer for a repeat of the same call. */
  async keepAnswer(idHash: string, answer: Uint8Array): Promise<void> {
    await this.#writer.write((tx) => keepAnswer(tx, idHash, answer));
  }

  /** Deletes a sign-in whose mail didn't go out. */
  async drop(idHash: string): Promise<void> {
    await this.#writer.write((tx) => tx.put('DELETE FROM login WHERE id_hash = ?', [idHash]));
  }

  /** Deletes sign-ins that started before `keptSince`, and answers that have expired. */
  async tidy(keptSince: number, now: number): Promise<void> {
    await this.#writer.write((tx) => tidy(tx, keptSince, now));
  }
}

async function deny(tx: Tx, linkHash: string): Promise<void> {
  await tx.put("UPDATE login SET state = 'denied' WHERE link_hash = ? AND state = 'waiting'", [
    linkHash,
  ]);
}

async function tidy(tx: Tx, keptSince: number, now: number): Promise<void> {
  await tx.put('DELETE FROM login WHERE created_at <= ?', [keptSince]);
  await tx.put('UPDATE login SET answer = NULL WHERE answer IS NOT NULL AND expires_at <= ?', [
    now,
  ]);
}

async function insert(
  tx: Tx,
  login: NewLogin,
  { share, networkHash }: { readonly share: string; readonly networkHash: string },
): Promise<void> {
  await tx.put(
    `INSERT INTO login (id_hash, link_hash, user_code, address, address_hash, rate_hash, masked, client, state, created_at, expires_at, share, network_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?, ?, ?)`,
    [
      login.id_hash,
      login.link_hash,
      login.user_code,
      login.address,
      login.address_hash,
      login.rate_hash,
      login.masked,
      login.client,
      login.created_at,
      login.expires_at,
      share,
      networkHash,
    ],
  );
}
