import { parseApiKey } from '../../shared/lib/ids.ts';
import type { CommandContext } from '../command.ts';
import { badAnswer, CallError, CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { textOption } from '../input/option-values.ts';
import { bytesOf, StandardInput } from '../input/values.ts';
import { SignInCalls, type ProjectRef } from './calls.ts';
import { addressText } from './gateway-address.ts';
import { gatewayClient } from './gateway-client.ts';
import { checkName, checkStorable, storedProfiles } from './profiles.ts';
import { gatewayOf, storeSignedIn, type SignedIn } from './signed-in.ts';

const FLAG = '--with-key';
const USAGE = `svc login --gateway URL ${FLAG} - (or ${FLAG} @FILE)`;
/** Flags that only a mailed link needs. */
const FLAGS_OF_MAIL = ['email', 'project', 'create', 'resend'] as const;
const CHECK_MS = 10_000;

/**
 * Stores an existing key, just as a sign-in stores its new one. `source` is `-` or `@file`, because other users can
 * read arguments. First asks the gateway whether it accepts the key, and for which project.
 */
export async function signInWithKey(
  context: CommandContext,
  { source, fallback }: { readonly source: string; readonly fallback: string | null },
): Promise<SignedIn> {
  const { home, output, signal } = context;
  checkFlags(context, source);
  const gateway = await gatewayOf(context, { fallback, asker: null, usage: USAGE });
  const place = { gateway: addressText(gateway) };
  checkStorable(home.credentialsFile);
  const name = textOption(context, 'name');
  const stored = storedProfiles(home.credentialsFile);
  if (name !== undefined) checkName(name, stored, place);
  const apiKey = await keyFrom(source, context);
  // The first call doesn't send the key, so that only an svc gateway ever sees it.
  const calls = new SignInCalls(gatewayClient(context, gateway), gateway, signal);
  await output.spin('Looking for the gateway', calls.check());
  const project = await output.spin('Checking the key', projectBehind(context, gateway, apiKey));
  if (name !== undefined) checkName(name, stored, { ...place, project: project.id });
  return storeSignedIn(context, { gateway: place.gateway, project, apiKey, email: null });
}

function checkFlags({ options }: CommandContext, source: string): void {
  const other = FLAGS_OF_MAIL.find((flag) => options[flag] !== undefined);
  if (other !== undefined) {
    throw usageError(`Use either ${FLAG} or --${other}, not both.`, `Write it as: ${USAGE}`);
  }
  if (source === '-' || source.startsWith('@')) return;
  throw usageError(
    `${FLAG} doesn't take the key itself, because other users of this machine can read arguments.`,
    `Write it as: ${USAGE}. The key you typed may be in your shell's history.`,
  );
}

async function keyFrom(source: string, { output, signal }: CommandContext): Promise<string> {
  if (source === '-' && process.stdin.isTTY) {
    output.note('Paste the key, then press Enter and Ctrl-D.');
  }
  const bytes = await bytesOf(source, FLAG, new StandardInput(signal));
  const key = bytes.toString('utf8').trim();
  if (parseApiKey(key)) return key;
  throw usageError(
    `${FLAG} didn't read an API key.`,
    'Provide only the key, which begins with svc_live_. An owner creates one with: svc key create --name NAME --scopes …',
  );
}

async function projectBehind(
  context: CommandContext,
  gateway: URL,
  apiKey: string,
): Promise<ProjectRef> {
  const client = gatewayClient(context, gateway, apiKey);
  const { signal } = context;
  const call = client.call('whoami', {}, { signal, timeoutMs: CHECK_MS });
  const { project } = await call.catch(toldApart);
  if (parseApiKey(apiKey)?.projectId === project.id) return project;
  throw badAnswer("The gateway answered with another project than the key's.");
}

/** Replaces the gateway's hint, which is for programs that call it. */
function toldApart(error: unknown): never {
  if (!(error instanceof CallError) || error.code !== 'UNAUTHENTICATED') throw error;
  throw new CliError({
    code: error.code,
    message: "This gateway doesn't know the key.",
    hint: "Check that the key was created at this gateway. The project's owner can create another: svc key create --name NAME --scopes …",
    exit: EXIT.signedOut,
  });
}
