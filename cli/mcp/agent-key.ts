import type { Profile } from '../../daemon/credentials.ts';
import { profileOf } from '../../daemon/credentials.ts';
import { askStatus } from '../../daemon/probe.ts';
import { messageOf } from '../../clients/typescript/core/errors.ts';
import { AGENT_SCOPES, READING_SCOPES, SCOPES, type Scope } from '../../shared/lib/scopes.ts';
import type { Client } from '../call/client.ts';
import type { CommandContext } from '../command.ts';
import { CallError, CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit.ts';
import { profileClient } from '../call/profile-client.ts';
import { addressText } from '../signin/gateway-address.ts';
import { removeProfile, storeClientProfile, storedProfiles } from '../signin/profiles.ts';

/** The scopes named by `--scopes`, or null. Throws a usage error for unknown ones. */
export function typedScopes(text: string | undefined): readonly Scope[] | null {
  if (text === undefined) return null;
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const scopes = SCOPES.filter((scope) => words.includes(scope));
  const unknown = words.filter((word) => !SCOPES.some((scope) => scope === word));
  if (unknown.length === 0 && scopes.length > 0) return scopes;
  const wrong = unknown.length > 0 ? `unknown: ${unknown.join(', ')}` : 'it names none';
  throw usageError(
    `--scopes takes scopes with commas between them; ${wrong}.`,
    `Scopes: ${SCOPES.join(', ')}`,
  );
}

/** Whose key it is: where it's stored, and what people call it. */
export interface KeyHolder {
  readonly profile: string;
  readonly label: string;
}

export interface KeyWish {
  /** Null means those that the key has already, or the usual ones. */
  readonly scopes: readonly Scope[] | null;
  /** What the key is limited to on the disk. Null means the old key's limits, if there was one. */
  readonly diskPrefixes: readonly string[] | null;
  readonly readOnly: boolean;
}

export interface AgentKey {
  readonly apiKey: string;
  readonly scopes: readonly string[];
  /** Null for the whole disk. */
  readonly diskPrefixes: readonly string[] | null;
  readonly isNew: boolean;
}

/**
 * The client's own key, in its own profile. A second installation finds the first one's key, also if both run at once:
 * the one that stores its key later ends it again. If the key no longer fits, a new one replaces it and the old one is
 * revoked.
 */
export async function agentKey(
  context: CommandContext,
  holder: KeyHolder,
  wish: KeyWish,
): Promise<AgentKey> {
  const client = context.client();
  const own = await whoIs(client, context.signal);
  const place = await placeOf(context, client, own.project);
  const { credentialsFile } = context.home;
  const stored = profileOf(storedProfiles(credentialsFile), holder.profile);
  const before = stored ? await storedKey(context, holder, place, stored) : null;
  const rights = rightsOf(wish, before, own.scopes);
  if (before && isSameSet(before.scopes, rights.scopes) && isSameLimit(before, rights)) {
    return { apiKey: before.apiKey, ...rights, isNew: false };
  }
  const limit = rights.diskPrefixes && { disk_prefixes: rights.diskPrefixes };
  const body = { name: holder.label, scopes: rights.scopes, ...limit };
  const made = await create(client, body, before, context.signal);
  let isStored = false;
  try {
    const profile = { ...place, ...made.stored };
    isStored = storeClientProfile(credentialsFile, holder.profile, profile, stored);
  } finally {
    if (!isStored) await revoke(client, made.id, context.signal);
  }
  if (!isStored) return agentKey(context, holder, wish);
  if (before && !made.replaced) await revoke(before.client, before.id, context.signal);
  return { apiKey: made.stored.api_key, ...rights, isNew: true };
}

type Rights = Pick<AgentKey, 'diskPrefixes' | 'scopes'>;

/** The requested scopes, else the old key's, else the usual ones. */
function rightsOf(wish: KeyWish, before: StoredKey | null, own: readonly string[]): Rights {
  const wanted = wish.scopes ?? (wish.readOnly ? READING_SCOPES : null);
  return {
    scopes: wanted ?? before?.scopes ?? usualScopes(own),
    diskPrefixes: wish.diskPrefixes ?? before?.diskPrefixes ?? null,
  };
}

/** A key can't grant what it doesn't have. */
function usualScopes(own: readonly string[]): readonly string[] {
  return AGENT_SCOPES.filter((scope) => own.includes(scope));
}

function isSameLimit(one: Rights, other: Rights): boolean {
  return isSameSet(one.diskPrefixes ?? [], other.diskPrefixes ?? []);
}

interface Place {
  readonly gateway: string | null;
  readonly project: string;
  readonly slug?: string;
  readonly name?: string;
  readonly ca_file?: string;
}

async function placeOf(
  { home }: CommandContext,
  client: Client,
  project: { readonly id: string; readonly slug: string; readonly name: string },
): Promise<Place> {
  const gateway = client.gateway
    ? addressText(client.gateway)
    : ((await askStatus(home.socketPath))?.gateway ?? null);
  if (gateway === null) return { gateway, project: project.id };
  const { slug, name, id } = project;
  const stored = Object.values(storedProfiles(home.credentialsFile).profiles);
  const ca_file = stored.find((one) => one.gateway === gateway)?.ca_file;
  return { gateway, project: id, slug, name, ...(ca_file !== undefined && { ca_file }) };
}

interface StoredKey extends Rights {
  readonly client: Client;
  readonly apiKey: string;
  readonly id: string;
}

/** The profile's key if it works and is for the same project; a key of another project is revoked if possible. */
async function storedKey(
  context: CommandContext,
  { profile: name }: KeyHolder,
  place: Place,
  stored: Profile,
): Promise<StoredKey | null> {
  if (stored.client === undefined) throw notOurs(name);
  if (stored.gateway !== place.gateway || stored.project !== place.project) {
    tellEnd(context, stored, await endKey(context, name));
    return null;
  }
  const client = profileClient(context, name);
  try {
    const { id, scopes, diskPrefixes } = await whoIs(client, context.signal);
    return { client, apiKey: stored.api_key, id, scopes, diskPrefixes };
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return null;
    throw error;
  }
}

function notOurs(name: string): CliError {
  return usageError(
    `The profile "${name}" isn't an MCP client's.`,
    'Choose another --name, or remove that profile: svc logout',
  );
}

interface NewAgentKey {
  readonly id: string;
  readonly stored: Pick<Profile, 'api_key' | 'client'>;
  /** The old key had to go first. */
  readonly replaced: boolean;
}

async function create(
  client: Client,
  body: { readonly name: string; readonly scopes: readonly string[] },
  before: StoredKey | null,
  signal: AbortSignal,
): Promise<NewAgentKey> {
  const made = async (replaced: boolean): Promise<NewAgentKey> => {
    const { id, api_key } = await client.call('key_create', body, { signal });
    return { id, stored: { api_key, client: body.name }, replaced };
  };
  try {
    return await made(false);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.code === 'KEY_LIMIT_REACHED' && before) {
      await revoke(before.client, before.id, signal);
      return made(true);
    }
    throw error.code === 'SCOPE_MISSING' ? needsAdmin() : error;
  }
}

function needsAdmin(): CliError {
  return new CliError({
    code: 'SCOPE_MISSING',
    message: "Your key can't create a key for the client: it doesn't have the scope admin.",
    hint: 'Use a profile with an admin key: --profile NAME. See: svc project list',
    exit: EXIT.signedOut,
  });
}

/** What became of a client's key. */
type KeyEnd = keyof typeof KEY_ENDS;

/** The same in words. */
export const KEY_ENDS = {
  revoked: 'its key is revoked',
  revoked_before: 'its key was already revoked',
  unreachable: 'its key still works',
} as const;

/** Revokes the key of a client's profile and removes the profile; null if there's no such profile. */
export async function endAgentKey(
  context: CommandContext,
  { profile: name }: KeyHolder,
): Promise<KeyEnd | null> {
  const { credentialsFile } = context.home;
  const stored = profileOf(storedProfiles(credentialsFile), name);
  if (!stored || stored.client === undefined) return null;
  const end = await endKey(context, name);
  removeProfile(credentialsFile, name);
  tellEnd(context, stored, end);
  return end;
}

/** Any key may revoke itself. */
async function endKey(context: CommandContext, name: string): Promise<KeyEnd> {
  const client = profileClient(context, name);
  const { signal } = context;
  try {
    await revoke(client, (await whoIs(client, signal)).id, signal);
    return 'revoked';
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof CallError && error.status === 401) return 'revoked_before';
    context.output.note(messageOf(error));
    return 'unreachable';
  }
}

function tellEnd({ output }: CommandContext, { api_key, project }: Profile, end: KeyEnd): void {
  if (end !== 'unreachable') return;
  output.note(
    `The key …${api_key.slice(-4)} of ${project} still works. Revoke it later: svc key list, svc key revoke`,
  );
}

/** What the client made lives on: its questions may still be answered. */
async function revoke(client: Client, id: string, signal: AbortSignal): Promise<void> {
  await client.call('key_revoke', { key_id: id, keep: true }, { signal });
}

async function whoIs(client: Client, signal: AbortSignal) {
  const { key, project, scopes } = await client.call('whoami', {}, { signal });
  // Servers of earlier releases don't say `disk_prefixes`: they have no limited keys.
  return { id: key.id, project, scopes, diskPrefixes: key.disk_prefixes ?? null };
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text) => other.includes(text));
}
