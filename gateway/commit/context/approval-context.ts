import { hash } from 'node:crypto';
import { isoTime } from '../../../shared/lib/clock.ts';
import type { ApprovalContext, ServiceEvent } from '../../../shared/kernel/context.ts';
import { newId } from '../../../shared/lib/ids.ts';
import type { Actor } from '../../../shared/rules/actor.ts';
import { SERVICE_SOURCE } from '../../../shared/rules/inbox/source-name.ts';
import type { Job } from './job.ts';
import { announce, queueCallback } from '../commands/inbox/routing.ts';

/** Builds the context that rules and operations write through: requests, mails and files share one time, `now`. */
export function approvalContext(job: Job, now: number, actor: Actor): ApprovalContext {
  const { store, project, vault, ledgerWriter, emit } = job;
  return {
    store,
    project,
    vault,
    now,
    newId: (prefix) => newId(prefix, now),
    record: async (op, subject, about, { eventId = null, by = actor } = {}) => {
      const action = { actor: by, op, subject };
      if (eventId !== null) {
        return ledgerWriter.recordOpen(store, { ...action, eventId, about }, now);
      }
      const inputDigest = about === undefined ? undefined : ledgerWriter.digest(about);
      await ledgerWriter.record(store, { ...action, inputDigest }, now);
    },
    writeEvent: (event) => writeEvent(job, event, now),
    emit,
  };
}

async function writeEvent(
  job: Job,
  { type, payload, callback, exceptTo, outcomeOf, isDone }: ServiceEvent,
  now: number,
): Promise<string> {
  const { store } = job;
  const id = newId('evt', now);
  const body = Buffer.from(JSON.stringify(payload));
  const { seq, receivedAt } = await store.events.nextPlace(isoTime(now));
  await store.events.insert(
    {
      id,
      sourceId: null,
      source: SERVICE_SOURCE,
      channel: 'service',
      type,
      receivedAt,
      verified: true,
      trust: 'service',
      suspectedReplay: false,
      sizeBytes: body.length,
      // By which the event is found once the asker has the answer.
      providerId: outcomeOf?.requestId ?? null,
      bodyHash: hash('sha256', body, 'buffer'),
      askerKeyId: outcomeOf?.keyId,
      content: {
        headers: '{}',
        contentType: 'application/json',
        kind: 'json',
        body,
        blob: null,
      },
    },
    seq,
  );
  if (callback) await queueCallback(job, { seq, ...callback }, now);
  await announce(job, { seq, source: SERVICE_SOURCE, type, exceptTo, isDone }, now);
  return id;
}
