import { basename } from 'node:path';
import { isMailAddress } from '../../shared/rules/mail/mail-address.ts';
import type { CommandContext } from '../command.ts';
import { CallError, CliError, usageError } from '../errors.ts';
import { switchOption, textOption } from '../input/option-values.ts';
import { askerOf, type Asker } from '../input/asker.ts';
import {
  machineName,
  SignInCalls,
  type ProjectGrant,
  type LoginUse,
  type PollResult,
} from './calls.ts';
import { chooseProject, type Choice, type Wish } from './choose-project.ts';
import { confirmedProjects, endOf, isEnd, minutesLeft, tellCode } from './confirmation.ts';
import { addressText } from './gateway-address.ts';
import { gatewayClient } from './gateway-client.ts';
import { PendingLogins, type PendingLogin } from './pending-logins.ts';
import { checkName, checkStorable, storedProfiles } from './profiles.ts';
import { gatewayOf, storeSignedIn, type SignedIn } from './signed-in.ts';
import { canBeSatOut } from '../../clients/typescript/core/errors.ts';

const NAME_MAX_CHARS = 100;

/** What a sign-in is for, and how its command describes it. */
interface SignInOptions {
  readonly wish: Wish;
  /** The gateway's address if `--gateway` isn't given. */
  readonly fallback: string | null;
  /** A command line that asks no questions, for hints. */
  readonly usage: string;
}

/**
 * Signs in by a mailed link and stores the new key. Continues an interrupted sign-in. The gateway comes from
 * `--gateway`, from `fallback`, or from asking the user.
 */
export async function signIn(
  context: CommandContext,
  { wish, fallback, usage }: SignInOptions,
): Promise<SignedIn> {
  const asker = askerOf(context);
  try {
    const gateway = await gatewayOf(context, { fallback, asker, usage });
    return await new SignIn(context, { gateway, wish, asker, usage }).run();
  } finally {
    asker?.close();
  }
}

interface SignInRequest {
  readonly gateway: URL;
  readonly wish: Wish;
  readonly asker: Asker | null;
  readonly usage: string;
}

class SignIn {
  readonly #context: CommandContext;
  readonly #wanted: SignInRequest;
  readonly #gateway: string;
  readonly #profileName: string | null;
  readonly #calls: SignInCalls;
  readonly #logins: PendingLogins;
  #email = '';
  /** The sign-in that the same command would continue. */
  #pending: PendingLogin | null = null;

  constructor(context: CommandContext, wanted: SignInRequest) {
    const { home, signal } = context;
    this.#context = context;
    this.#wanted = wanted;
    this.#gateway = addressText(wanted.gateway);
    this.#profileName = textOption(context, 'name') ?? null;
    this.#calls = new SignInCalls(gatewayClient(context, wanted.gateway), wanted.gateway, signal);
    this.#logins = new PendingLogins(home.loginsFolder);
  }

  async run(): Promise<SignedIn> {
    const { home, output, signal } = this.#context;
    checkStorable(home.credentialsFile);
    this.#checkName();
    const typed = this.#typedEmail();
    await output.spin('Looking for the gateway', this.#calls.check());
    this.#email = typed ?? (await this.#askedEmail());
    try {
      return this.#store(await this.#granted());
    } catch (error) {
      if (signal.aborted && this.#pending) {
        const left = minutesLeft(this.#pending);
        output.note(`The sign-in stays open for ${left}. Run the same command again to continue.`);
      }
      throw error;
    }
  }

  #checkName(project?: string | null): void {
    if (this.#profileName === null) return;
    const stored = storedProfiles(this.#context.home.credentialsFile);
    const place = { gateway: this.#gateway, ...(project !== undefined && { project }) };
    checkName(this.#profileName, stored, place);
  }

  #typedEmail(): string | null {
    const email = textOption(this.#context, 'email');
    if (email === undefined) {
      if (this.#wanted.asker) return null;
      throw usageError('--email is missing.', `Write it as: ${this.#wanted.usage}`);
    }
    if (isMailAddress(email)) return email;
    throw usageError(
      `--email isn't an email address: "${email}".`,
      `Write it as: ${this.#wanted.usage}`,
    );
  }

  async #askedEmail(): Promise<string> {
    const { asker } = this.#wanted;
    for (;;) {
      const email = (await asker?.ask('Your email address:')) ?? '';
      if (isMailAddress(email)) return email;
      asker?.show([`"${email}" isn't an email address.`]);
    }
  }

  /** Continues the earlier sign-in if it's still valid; otherwise starts a new one. */
  async #granted(): Promise<ProjectGrant> {
    const isNew = switchOption(this.#context, 'resend');
    const before = isNew ? null : this.#logins.find(this.#gateway, this.#email);
    if (before) {
      try {
        return await this.#resume(before);
      } catch (error) {
        if (!isEnd(error)) throw error;
        this.#forget();
        this.#context.output.note('The earlier sign-in has expired.');
      }
    }
    const login = await this.#begin();
    const waitSeconds = login.interval_seconds;
    tellCode(login, 'new', this.#context);
    return this.#ended(this.#finish(login, { status: 'waiting', waitSeconds }));
  }

  async #begin(): Promise<PendingLogin> {
    const { output } = this.#context;
    const sending = this.#calls.start(this.#email).catch((error: unknown) => this.#notSent(error));
    const begun = await output.spin('Starting the sign-in', sending);
    const login: PendingLogin = {
      login_id: begun.loginId,
      user_code: begun.userCode,
      email_masked: begun.emailMasked,
      interval_seconds: begun.intervalSeconds,
      is_kept: begun.isKept,
      // By this machine's clock, because the gateway's may differ.
      until: Date.now() + begun.expiresInSeconds * 1000,
    };
    this.#keep(login);
    return login;
  }

  /** The gateway refuses to send more mail, but an earlier mail may still work. */
  async #notSent(error: unknown): Promise<never> {
    const before = this.#logins.find(this.#gateway, this.#email);
    if (!before || !(error instanceof CallError) || error.code !== 'RATE_LIMITED') throw error;
    try {
      await this.#calls.poll(before.login_id, before.interval_seconds);
    } catch {
      throw error;
    }
    throw new CliError({
      code: error.code,
      message: error.message,
      hint: `The earlier mail still works for ${minutesLeft(before)}. To continue with it, run the command without --resend.`,
      details: error.details,
      exit: error.exit,
    });
  }

  /** Continues an earlier sign-in. Throws the gateway's own error if it can't be used any more. */
  async #resume({ use, wish, ...login }: PendingLogin): Promise<ProjectGrant> {
    this.#pending = login;
    if (use && wish === this.#wishText()) return this.#use(login, use);
    this.#context.output.note(
      `Continuing the earlier sign-in, open for ${minutesLeft(login)} more. For a new link: --resend`,
    );
    const polled = await this.#calls.poll(login.login_id, login.interval_seconds);
    if (polled.status === 'waiting') tellCode(login, 'resumed', this.#context);
    return this.#ended(this.#finish(login, polled));
  }

  async #finish(login: PendingLogin, polled: PollResult): Promise<ProjectGrant> {
    const { output, signal } = this.#context;
    const { wish, asker } = this.#wanted;
    const confirming = { calls: this.#calls, output, signal };
    const projects = await confirmedProjects(login, polled, confirming);
    const folderName = basename(process.cwd()).slice(0, NAME_MAX_CHARS) || 'project';
    const choice = await chooseProject(wish, { projects, asker, folderName });
    this.#checkName(choice.kind === 'join' ? choice.project.id : null);
    return this.#use(login, useFor(choice, login));
  }

  /** Stored before sending, so that the same command can ask for a lost answer. */
  async #use(login: PendingLogin, use: LoginUse): Promise<ProjectGrant> {
    this.#keep({ ...login, use, wish: this.#wishText() });
    try {
      return await this.#context.output.spin('Getting a key', this.#calls.use(use));
    } catch (error) {
      // After a refusal the sign-in is unused, so another choice is possible.
      if (error instanceof CallError && !canBeSatOut(error)) this.#keep(login);
      throw error;
    }
  }

  /** Explains to the user why the sign-in ended halfway. */
  async #ended<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof CallError) || !isEnd(error)) throw error;
      this.#forget();
      throw endOf(error);
    }
  }

  #store(granted: ProjectGrant): SignedIn {
    const email = this.#pending?.email_masked ?? '';
    const signedIn = storeSignedIn(this.#context, { ...granted, gateway: this.#gateway, email });
    this.#forget();
    return signedIn;
  }

  #wishText(): string {
    return JSON.stringify(this.#wanted.wish);
  }

  #keep(login: PendingLogin): void {
    this.#pending = login;
    this.#logins.keep(this.#gateway, this.#email, login);
  }

  #forget(): void {
    this.#pending = null;
    this.#logins.drop(this.#gateway, this.#email);
  }
}

function useFor(choice: Choice, { login_id }: PendingLogin): LoginUse {
  const common = { login_id, key_name: `svc on ${machineName()}` };
  const idempotency_key = crypto.randomUUID();
  return choice.kind === 'create'
    ? { path: '/v1/projects', body: { ...common, name: choice.name }, idempotency_key }
    : {
        path: '/v1/auth/keys',
        body: { ...common, project_id: choice.project.id },
        idempotency_key,
      };
}
