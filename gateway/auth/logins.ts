import { hash } from 'node:crypto';
import type * as z from 'zod';
import type { pollAnswer, pollInput, startAnswer, startInput } from '../../shared/api/sign-in.ts';
import { isoTime, type Clock } from '../../shared/lib/clock.ts';
import type { Vault } from '../../shared/kernel/context.ts';
import { invalid, ServiceError } from '../../shared/lib/errors.ts';
import { newId, newSecret } from '../../shared/lib/ids.ts';
import {
  LOGIN_CODES_MAX,
  LOGIN_KEPT_MS,
  LOGIN_MS,
  LOGIN_POLL_MIN_MS,
  LOGIN_POLL_SECONDS,
  LOGINS_FROM_STRANGERS,
  LOGINS_PER_EMAIL,
  LOGINS_WINDOW_MS,
  NETWORK_KNOWN_MS,
} from '../../shared/lib/limits.ts';
import { effectiveLoginState, type LoginState } from '../store/control/login-state.ts';
import {
  domainOf,
  comparableAddress,
  likelyMailbox,
  maskedAddress,
} from '../../shared/rules/mail/mail-address.ts';
import type { AccountStore, OwnedProject } from '../store/control/accounts.ts';
import { admissionOf, type Admission } from '../store/control/standing.ts';
import type { LoginRow } from '../store/control/login-rows.ts';
import type { LoginStore } from '../store/control/logins.ts';
import type { OutgoingMail } from '../mail/mailer.ts';
import type { SendResult } from '../lib/send-result.ts';
import { notAdmittedMessage, signInMessage } from './sign-in-message.ts';
import type { LoginClient, LoginService, LoginView } from './login-service.ts';
import { isAllowed, mailboxHashText, type SignUpRule } from './sign-up.ts';
import { learnedNetwork, networkHashText } from './network.ts';
import { rateLimited, StartLimit } from './start-limit.ts';
import { isSameCode, newUserCode } from './user-code.ts';
import { within } from './within.ts';

const MAIL_DEADLINE_MS = 10_000;
/** Denied sign-ins don't count, so whoever reads the mails isn't kept out by strangers. */
const MAKE_ROOM =
  'Sooner: in a sign-in mail that you didn’t ask for, open the link and press “This was not me”. That makes room at once. Or use a key from a machine that is signed in.';
/** Above this many entries, old polls are dropped. */
const POLLS_MAX = 10_000;

export interface LoginDeps {
  readonly store: LoginStore;
  readonly accounts: Pick<AccountStore, 'standing'>;
  readonly signUp: SignUpRule;
  readonly clock: Clock;
  readonly vault: Vault;
  /** The base URL of links in mails. */
  readonly publicUrl: string;
  /** The domain of projects' addresses. */
  readonly mailDomain: string | null;
  /** No mail server is set: mail stays in a folder of the server. */
  readonly keepsMail: boolean;
  readonly mail: (mail: Omit<OutgoingMail, 'from'>) => Promise<SendResult>;
  /** Returns the usable projects of an account. */
  readonly projectsOf: (accountId: string) => Promise<OwnedProject[]>;
  /** Gets the reason why a mail didn't go out. */
  readonly onTrouble: (reason: string) => void;
  /** How long the mail server may take (default 10 s); tests set it. */
  readonly mailDeadlineMs?: number;
}

/** The client that starts a sign-in. */
export interface Beginner {
  readonly address: string;
  readonly userAgent: string | null;
}

/** Sign-ins by a mailed link: a client starts one, and the reader of the mail confirms it. */
export class Logins implements LoginService {
  readonly #deps: LoginDeps;
  readonly #starts = new StartLimit();
  /** The time of the last poll of each sign-in. */
  readonly #polls = new Map<string, number>();

  constructor(deps: LoginDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a sign-in and mails its link. Acts and answers the same whether or not the address is known: only the mail
   * says that an address may not sign up. RATE_LIMITED, EMAIL_DELIVERY_FAILED.
   */
  async start(
    input: z.output<typeof startInput>,
    { address, userAgent }: Beginner,
  ): Promise<z.output<typeof startAnswer>> {
    const { clock, keepsMail, mailDomain, store, vault } = this.#deps;
    if (domainOf(input.email) === mailDomain) {
      // Agents read the mail to projects' addresses.
      throw invalid({ path: 'email', message: 'Addresses of this service cannot sign in.' });
    }
    const now = clock.now();
    const email = comparableAddress(input.email);
    const network = {
      addressHash: vault.sign(accountHashText(email)),
      networkHash: vault.sign(networkHashText(address)),
      knownSince: now - NETWORK_KNOWN_MS,
    };
    // Behind a proxy that isn't trusted all come from one address, and strangers must not use up its starts.
    if (!(await store.isKnown(network))) this.#starts.take(address, now);
    const [loginId, token] = [`lgn_${newSecret()}`, newSecret()];
    const { name = null, version = null, host = null } = input.client ?? {};
    const client: LoginClient = { name, version, host, userAgent, address };
    const idHash = hashOf(loginId);
    const login = {
      id_hash: idHash,
      link_hash: hashOf(token),
      user_code: newUserCode(),
      address: vault.seal(loginAad(idHash, 'address'), email),
      address_hash: network.addressHash,
      // One count per mailbox, or each spelling of its address would have its own limit.
      rate_hash: vault.sign(loginRateText(email)),
      masked: maskedAddress(email),
      client: JSON.stringify(client),
      created_at: now,
      expires_at: now + LOGIN_MS,
    };
    const windowStart = now - LOGINS_WINDOW_MS;
    const limit = {
      since: windowStart,
      perNetwork: LOGINS_PER_EMAIL,
      strangers: LOGINS_FROM_STRANGERS,
      keptSince: now - LOGIN_KEPT_MS,
      network,
    };
    const inTheWay = await store.begin(login, limit);
    if (inTheWay !== null) throw rateLimited(inTheWay - windowStart, MAKE_ROOM);
    const view = viewOf({ ...login, state: 'waiting', wrong_codes: 0 }, now);
    await this.#mail(email, { token, idHash, view });
    return {
      login_id: loginId,
      user_code: login.user_code,
      email_masked: login.masked,
      expires_in: LOGIN_MS / 1000,
      expires_at: isoTime(login.expires_at),
      interval: LOGIN_POLL_SECONDS,
      mail: keepsMail ? 'kept' : 'sent',
    };
  }

  /** Returns a confirmed sign-in. LOGIN_NOT_VERIFIED, LOGIN_EXPIRED, LOGIN_CONSUMED, RATE_LIMITED. */
  async poll({ login_id }: z.output<typeof pollInput>): Promise<z.output<typeof pollAnswer>> {
    const { clock, store } = this.#deps;
    const now = clock.now();
    const idHash = hashOf(login_id);
    const login = await store.find(idHash);
    if (!login) throw loginError('expired');
    this.#takePoll(idHash, now);
    const state = effectiveLoginState(login, now);
    if (state !== 'confirmed') throw loginError(state);
    const projects = await this.#deps.projectsOf(login.account_id ?? '');
    return {
      status: 'confirmed',
      email_masked: login.masked,
      expires_at: isoTime(login.expires_at),
      projects: projects.map(({ id, slug, name }) => ({ id, slug, name })),
    };
  }

  async open(token: string): Promise<LoginView | null> {
    const login = await this.#deps.store.findByLink(hashOf(token));
    return login ? viewOf(login, this.#deps.clock.now()) : null;
  }

  async confirm(token: string, code: string): Promise<LoginView | null> {
    const { clock, signUp, store, vault } = this.#deps;
    const now = clock.now();
    const login = await store.findByLink(hashOf(token));
    if (login) {
      const id = newId('acc', now);
      const email = vault.open(loginAad(login.id_hash, 'address'), login.address);
      const address = Buffer.from(email).toString('utf8');
      const account = {
        id,
        address: vault.seal(accountAad(id), email),
        address_hash: login.address_hash,
        mailbox_hash: vault.sign(mailboxHashText(address)),
        created_at: isoTime(now),
      };
      const fresh = { account, isAllowed: isAllowed(signUp, address) };
      // The network of the client that started it: whoever confirms vouches for that one.
      const starter = (JSON.parse(login.client) as LoginClient).address;
      const network = learnedNetwork(vault, starter, now);
      const isCode = (shown: string): boolean => isSameCode(shown, code);
      const times = { now, expiresAt: now + LOGIN_MS };
      const how = { ...times, isCode, codesMax: LOGIN_CODES_MAX, network };
      await store.confirm(login.link_hash, fresh, how);
    }
    return this.open(token);
  }

  async deny(token: string): Promise<LoginView | null> {
    await this.#deps.store.deny(hashOf(token));
    return this.open(token);
  }

  async #mail(
    email: string,
    login: { readonly token: string; readonly idHash: string; readonly view: LoginView },
  ): Promise<void> {
    const { clock, mail, mailDeadlineMs = MAIL_DEADLINE_MS, publicUrl } = this.#deps;
    const admission = await this.#admission(email);
    const message =
      admission === 'welcome'
        ? signInMessage(login.view, `${publicUrl}/s/${login.token}`)
        : notAdmittedMessage(admission, { email, publicUrl });
    const handing = mail({ id: newId('msg', clock.now()), to: email, ...message });
    const sent = await within(mailDeadlineMs, handing);
    if (sent?.outcome === 'sent') return;
    // An unsent mail doesn't count against the limit. A mail that is still on its way does, because it may arrive.
    if (sent) await this.#deps.store.drop(login.idHash);
    this.#deps.onTrouble(sent?.reason ?? 'The mail server does not answer in time.');
    throw new ServiceError('EMAIL_DELIVERY_FAILED');
  }

  async #admission(email: string): Promise<Admission> {
    const { accounts, signUp, vault } = this.#deps;
    const standing = await accounts.standing({
      address_hash: vault.sign(accountHashText(email)),
      mailbox_hash: vault.sign(mailboxHashText(email)),
    });
    return admissionOf(standing, isAllowed(signUp, email));
  }

  #takePoll(idHash: string, now: number): void {
    const passed = now - (this.#polls.get(idHash) ?? Number.NEGATIVE_INFINITY);
    if (passed >= 0 && passed < LOGIN_POLL_MIN_MS) throw rateLimited(LOGIN_POLL_MIN_MS - passed);
    this.#polls.set(idHash, now);
    if (this.#polls.size <= POLLS_MAX) return;
    for (const [one, at] of this.#polls) {
      if (at <= now - LOGIN_POLL_MIN_MS) this.#polls.delete(one);
    }
  }
}

/** Returns the error for a sign-in that isn't confirmed. */
export function loginError(state: Exclude<LoginState, 'confirmed'>): ServiceError {
  switch (state) {
    case 'waiting':
      return new ServiceError('LOGIN_NOT_VERIFIED', {
        details: { retry_after: LOGIN_POLL_SECONDS },
      });
    case 'denied':
      return new ServiceError('LOGIN_EXPIRED', {
        hint: 'It was denied on its page. Start again.',
        details: { reason: 'denied' },
      });
    case 'expired':
      return new ServiceError('LOGIN_EXPIRED');
    case 'used':
      return new ServiceError('LOGIN_CONSUMED');
  }
}

/** The form in which the store knows a secret. */
export function hashOf(secret: string): string {
  return hash('sha256', secret);
}

/** The additional data that seals a secret of a sign-in. */
export function loginAad(idHash: string, column: 'address' | 'answer'): string {
  return `login|${idHash}|${column}`;
}

/** The additional data that seals the address of an account. */
export function accountAad(accountId: string): string {
  return `account|${accountId}|address`;
}

/** The text to sign to find an account by its address, as `comparableAddress` spells it. */
export function accountHashText(address: string): string {
  return `account|address|1|${address}`;
}

/** The text to sign to count the sign-ins of a mailbox. */
export function loginRateText(address: string): string {
  return `login|rate|1|${likelyMailbox(address)}`;
}

type LoginColumns = Pick<
  LoginRow,
  'state' | 'user_code' | 'masked' | 'client' | 'created_at' | 'expires_at' | 'wrong_codes'
>;

function viewOf(login: LoginColumns, now: number): LoginView {
  return {
    state: effectiveLoginState(login, now),
    userCode: login.user_code,
    email: login.masked,
    client: JSON.parse(login.client) as LoginClient,
    createdAt: login.created_at,
    expiresAt: login.expires_at,
    codesLeft: LOGIN_CODES_MAX - login.wrong_codes,
    now,
  };
}
