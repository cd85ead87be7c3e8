import type { Effect } from '../commit/context/job.ts';
import type { Project } from './project.ts';

type OtherEffect = Exclude<Effect, { kind: 'committed' | 'outdated' | 'uncertain' | 'damaged' }>;
type Appliers = {
  [K in OtherEffect['kind']]: (project: Project, effect: Extract<OtherEffect, { kind: K }>) => void;
};

const APPLIERS: Appliers = {
  foreign: ({ deliveries, waits }) => {
    deliveries.forget();
    waits.notifyAll();
  },
  event_ready: ({ waits }, effect) => waits.notify({ ...effect, kind: 'event' }),
  request_ended: ({ waits }, { id }) => waits.notify({ kind: 'request', id }),
  disk_changed: ({ waits }) => waits.notify({ kind: 'disk' }),
  inbox_changed: ({ waits }) => waits.notify({ kind: 'inbox' }),
  notices_due: ({ notifications }) => notifications.wake(),
  mails_due: ({ mails }) => mails.wake(),
  mail_taken: ({ mailCeilings }, { id }) => mailCeilings.keep(id),
  mail_returned: (project, { messages, day }) =>
    project.inBackground(() =>
      project.mailCeilings.giveBack({ projectId: project.info.id, messages, day }),
    ),
  due: (project, { at }) => project.atLatest(at),
  sources_changed: ({ sourceCache }) => sourceCache.clear(),
  callbacks_changed: ({ deliveries }) => deliveries.forget(),
  delivery_due: ({ deliveries }, { destination }) => deliveries.wake(destination),
  blob_dropped: (project, { digest }) => project.inBackground(() => project.removeBlob(digest)),
  project_changed: (project) =>
    project.inBackground(async () => void (await project.followOwner())),
  members_changed: (project) => project.inBackground(() => project.members.run()),
  keys_changed: ({ keyCache }) => keyCache.clear(),
  key_ended: ({ keyCache, waits }, { keyId }) => {
    keyCache.clear();
    waits.endOf(keyId);
  },
};

/** Tells the parts of a project what a durable commit has changed. */
export function applyEffect<K extends OtherEffect['kind']>(
  project: Project,
  effect: Extract<OtherEffect, { kind: K }>,
): void {
  APPLIERS[effect.kind](project, effect);
}
