import type { CommandContext } from '../command.ts';
import { CallError, CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { switchOption } from '../input/option-values.ts';
import type { Output } from '../view/output.ts';
import { RetryingCalls } from '../../clients/typescript/core/retrying-calls.ts';
import type { PollResult, ProjectRef, SignInCalls } from './calls.ts';
import type { PendingLogin } from './pending-logins.ts';
import { deadline } from '../../shared/lib/deadline.ts';
import { sleep } from '../../clients/typescript/core/clock.ts';

/** Normally the gateway says when time is up; this margin is for an unreachable gateway. */
const GRACE_MS = 30_000;
const MINUTE_MS = 60_000;

/** Errors that end a sign-in for good. */
const ENDED: ReadonlySet<string> = new Set(['LOGIN_EXPIRED', 'LOGIN_CONSUMED', 'NOT_FOUND']);

interface Confirming {
  readonly calls: SignInCalls;
  readonly output: Output;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Waits for the link to be confirmed, through network trouble. Returns the account's projects. */
export async function confirmedProjects(
  login: PendingLogin,
  first: PollResult,
  { calls, output, signal }: Confirming,
): Promise<readonly ProjectRef[]> {
  const late = deadline(Math.max(0, login.until - Date.now()) + GRACE_MS);
  const until = AbortSignal.any([signal, late]);
  const steady = new RetryingCalls({ signal: until, trouble: (text) => output.note(text) });
  const wait = async (): Promise<readonly ProjectRef[] | null> => {
    for (let polled: PollResult | null = first; polled;) {
      if (polled.status === 'confirmed') return polled.projects;
      await sleep(polled.waitSeconds * 1000, until);
      polled = await steady.answer(() => calls.poll(login.login_id, login.interval_seconds));
    }
    return null;
  };
  const projects = await output.spin(`Waiting for you to confirm ${login.user_code}`, wait());
  if (projects) return projects;
  signal.throwIfAborted();
  throw expired();
}

/** How the user comes to the link. */
function whereLines({ email_masked: to, is_kept }: PendingLogin, begun: 'new' | 'resumed') {
  if (is_kept) {
    return [
      `This gateway has no mail server: the mail to ${to} stays on its host. To read it there: svc gateway outbox`,
      'Open the link in it and type this code there:',
    ];
  }
  return begun === 'new'
    ? [`Sent mail to ${to}. Open the link in it and type this code there:`]
    : [`Open the link mailed to ${to} and type this code there:`];
}

/**
 * Tells the user what to do next. The code stands nowhere else and is typed on the linked page, so it's shown even with
 * --quiet. With --json it's one line: `user_code`, `email_masked`, `expires_at`, `mail`.
 */
export function tellCode(
  login: PendingLogin,
  begun: 'new' | 'resumed',
  context: CommandContext,
): void {
  const { output } = context;
  const { user_code, email_masked, until, is_kept } = login;
  if (switchOption(context, 'json')) {
    const expires_at = new Date(until).toISOString();
    const mail = is_kept ? 'kept' : 'sent';
    output.tell(JSON.stringify({ user_code, email_masked, expires_at, mail }));
    return;
  }
  for (const line of whereLines(login, begun)) output.tell(line);
  output.tell('');
  output.tell(`    ${user_code}`);
  output.tell('');
}

/** The minutes left, as text. */
export function minutesLeft({ until }: PendingLogin): string {
  return `${Math.max(1, Math.round((until - Date.now()) / MINUTE_MS))} min`;
}

/** Whether this error ends the sign-in. */
export function isEnd(error: unknown): boolean {
  return error instanceof CallError && ENDED.has(error.code);
}

/** The error that tells the user why the sign-in ended. */
export function endOf(error: CallError): CliError {
  if (error.code !== 'LOGIN_CONSUMED') return isDenied(error) ? denied() : expired();
  return new CliError({
    code: error.code,
    message: 'This sign-in was already used, perhaps by the same command in another terminal.',
    hint: 'Run the same command again: it makes a new link.',
    exit: EXIT.refused,
  });
}

/** The same code means denied or expired. */
function isDenied({ details }: CallError): boolean {
  return details?.['reason'] === 'denied';
}

function denied(): CliError {
  return new CliError({
    code: 'LOGIN_EXPIRED',
    message: 'This sign-in was refused on the linked page, or the code was wrong twice.',
    hint: 'If that was a mistake, run the same command again: it makes a new link.',
    exit: EXIT.denied,
  });
}

function expired(): CliError {
  return new CliError({
    code: 'LOGIN_EXPIRED',
    message: 'Nobody confirmed the sign-in in time.',
    hint: 'Run the same command again: it makes a new link.',
    exit: EXIT.denied,
  });
}
