import type { Caller, LongContext } from '../../../shared/kernel/context.ts';
import { markHeaders, staleNote } from '../../../shared/api/answer-marks.ts';
import { ServiceError, unavailable } from '../../../shared/lib/errors.ts';
import { longContext } from '../../../shared/kernel/long-context.ts';
import type { Operation } from '../../../shared/kernel/operation.ts';
import { isObject } from '../../../shared/lib/guards.ts';
import { NO_BLOBS, NO_REPLICA_LOG, NO_TRANSFER, NO_VAULT } from './absent.ts';
import type { Replica } from '../replica.ts';

/** A call that the replica may answer. */
export interface LocalCall {
  readonly operation: Operation;
  /** The parsed input. */
  readonly checked: unknown;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

type Copy = Pick<Replica, 'info' | 'now' | 'pace' | 'store' | 'waits'>;

/** How often a wait checks the replica's freshness. */
const LOOK_MS = 1_000;

/** Runs a read's handler on the replica. UNAVAILABLE if the replica goes away, even during a wait. */
export async function runLocally(call: LocalCall, copy: Copy): Promise<unknown> {
  const { operation, checked, caller, signal } = call;
  const { handler } = operation;
  if (!copy.info) throw unavailable(1);
  const { project, server } = copy.info;
  const base = {
    caller,
    project,
    server,
    vault: NO_VAULT,
    now: copy.now(),
    unspentTransfer: NO_TRANSFER,
    replicaLog: NO_REPLICA_LOG,
  };
  // Get the store for each read: a wait may outlive the file it began with.
  const read: LongContext['read'] = async (fn) => {
    if (!copy.store) throw unavailable(1);
    return copy.store.read(fn);
  };
  switch (handler.kind) {
    case 'read':
      return read((store) => handler.run({ store, ...base }, checked));
    case 'long': {
      const site = {
        blobs: NO_BLOBS,
        waits: copy.waits,
        pace: copy.pace,
        read,
        now: () => copy.now(),
      };
      return handler.run(longContext(base, site, signal), checked);
    }
    case 'write':
      throw new Error(`${operation.name} writes: it is for the gateway.`);
  }
}

/**
 * The same for a wait on a replica that follows the gateway. UNAVAILABLE soon after it stops following, because nothing
 * would wake the wait: ask the gateway then.
 */
export async function waitLocally(
  call: LocalCall,
  copy: Copy &
    Pick<Replica, 'freshness'> & { readonly contact: Pick<Replica['contact'], 'attend'> },
): Promise<unknown> {
  const lost = new AbortController();
  const looking = setInterval(() => {
    copy.contact.attend();
    if (copy.freshness().usable === 'no') lost.abort();
  }, LOOK_MS);
  const signal = AbortSignal.any([call.signal, lost.signal]);
  try {
    return await runLocally({ ...call, signal }, copy);
  } catch (error) {
    throw lost.signal.aborted && !call.signal.aborted ? unavailable(1) : error;
  } finally {
    clearInterval(looking);
  }
}

/** The error for an id that a stale replica lacks: it says so, and has the headers of every answer from a replica. */
export function inAnOldCopy({ code, hint, details }: ServiceError, ageMs: number): ServiceError {
  const doubt = `${staleNote(ageMs / 1000)} Repeat it when the gateway is back; see \`svc status\`.`;
  return new ServiceError(code, {
    hint: [hint, doubt].filter(Boolean).join(' '),
    ...(details && { details }),
    headers: markHeaders({ value: null, replica: { ageMs, stale: true } }),
  });
}

/** The rest of an interrupted wait; returns any other call unchanged. */
export function shortened<C extends LocalCall & { readonly input: unknown }>(
  call: C,
  elapsedMs: number,
): C {
  const { checked, operation } = call;
  if (operation.effect !== 'wait' || !isObject(checked) || !isObject(call.input)) return call;
  const seconds = Number(checked['timeout_seconds']);
  const timeout_seconds = Math.max(1, Math.round(seconds - elapsedMs / 1000));
  return {
    ...call,
    checked: { ...checked, timeout_seconds },
    input: { ...call.input, timeout_seconds },
  };
}
