import { profileOf, readCredentials, type Profile } from '../../daemon/credentials.ts';
import type { DaemonStatus } from '../../daemon/record.ts';
import { HttpClient } from '../call/client.ts';
import type { CommandContext } from '../command.ts';
import { CallError, CliError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textOption } from '../input/option-values.ts';
import { replicaNote, historyAlarm } from '../view/status-replica.ts';
import { checkClock } from './clock.ts';
import { failed, ok, warning, type Finding } from './checks.ts';
import { checkSetAside } from './set-aside.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { parsedUrl } from '../../shared/lib/urls.ts';

const ANSWERS_WITHIN_MS = 5000;

/**
 * Asks the profile's gateway directly whether it answers, accepts the key and has the right time. No finding without a
 * gateway.
 */
export async function checkGateway(context: CommandContext): Promise<Finding[]> {
  const profile = storedProfile(context);
  const address = profile?.gateway;
  if (!profile || !address) return [];
  const gateway = parsedUrl(address);
  if (!gateway) {
    return [failed('gateway', `${address} isn't an address`, 'Sign in again: svc login')];
  }
  const connection = { gateway, apiKey: profile.api_key };
  const { home, env } = context;
  const client = new HttpClient({ home, env, connection, warn: () => undefined });
  try {
    const { project } = await client.call('whoami', {}, { timeoutMs: ANSWERS_WITHIN_MS });
    return [
      ok('gateway', `${address} answers`),
      ok('sign-in', `the key is accepted for ${project.id}`),
      ...(await checkClock(client)),
      ...(await checkSetAside(client)),
    ];
  } catch (error) {
    return refusedBy(address, error);
  }
}

function refusedBy(address: string, error: unknown): Finding[] {
  const text = messageOf(error);
  const hint = error instanceof CliError ? error.hint : null;
  if (error instanceof CallError && error.exit === EXIT.signedOut) {
    const fix = 'Sign in again: svc login';
    return [
      ok('gateway', `${address} answers`),
      failed('sign-in', `the gateway refuses the key (${error.code}): ${text}`, fix),
    ];
  }
  const detail =
    error instanceof CallError ? `${address}: ${text}` : `${address} doesn't answer: ${text}`;
  return [failed('gateway', detail, hint ?? "Ask the gateway's operator.")];
}

/** Another check reports damaged credentials. */
function storedProfile(context: CommandContext): Profile | undefined {
  try {
    const stored = readCredentials(context.home.credentialsFile);
    return profileOf(stored, textOption(context, 'profile') ?? stored?.current ?? '');
  } catch {
    return undefined;
  }
}

/** The state of the replica and of its view of the ledger. No finding in local mode. */
export function checkReplica(status: Pick<DaemonStatus, 'gateway' | 'replica'> | null): Finding[] {
  if (!status?.replica) return [];
  const { state, witness: history } = status.replica;
  const note = replicaNote(status);
  const fix = 'For details: svc status';
  const copy = note === null ? ok('replica', state) : warning('replica', note, fix);
  if (history.ok) return [copy, ok('ledger', `checked up to entry ${history.seq}`)];
  const way = "Ask the gateway's operator. Once you know why: svc ledger verify --accept";
  return [copy, failed('ledger', historyAlarm(status.gateway, history), way)];
}
