import type { ProjectInfo } from '../../../shared/kernel/context.ts';
import type { Notification, RequestView } from '../../approvals/approvals.ts';
import { shownLine } from '../telegram/display-text.ts';

/** What a browser shows; the script of the worker reads it. */
export interface PushMessage {
  readonly title: string;
  readonly body: string;
  /** Opens on a click: a path of this gateway. */
  readonly path: string;
  /** A later message with the same tag replaces this one. */
  readonly tag: string;
  /** Whether somebody waits for an answer. */
  readonly isUrgent: boolean;
  /** When it no longer helps anybody, in milliseconds; null if it always does. */
  readonly expiresAt: number | null;
}

const LINE_MAX_CHARS = 200;

const ASKS: Readonly<Record<RequestView['kind'], string>> = {
  approval: 'approve?',
  question: 'a question',
  policy: 'change the policy?',
  file_url: 'publish a file?',
  email_send: 'send a mail?',
  channel: 'add an approver?',
  member: 'change a member?',
};

/** The notice for a message to a person; null for one that isn't news. `base`: the path of the gateway's public URL. */
export function pushMessage(notification: Notification, base: string): PushMessage | null {
  switch (notification.kind) {
    case 'ask': {
      const { request } = notification.opened;
      const high = request.risk === 'high' ? ' High risk.' : '';
      return {
        title: `${line(request.project.name)}: ${ASKS[request.kind]}`,
        body: `${line(request.summary)}${high}`,
        path: `${base}/a/${encodeURIComponent(notification.token)}`,
        tag: request.id,
        isUrgent: true,
        expiresAt: request.expiresAt,
      };
    }
    case 'tell': {
      const { request } = notification.opened;
      return {
        title: `${line(request.project.name)}: approved by a policy`,
        body: line(request.summary),
        path: `${base}/ui/p/${request.project.slug}/requests/${request.id}`,
        tag: request.id,
        isUrgent: false,
        expiresAt: null,
      };
    }
    case 'digest': {
      const { project, keyName, items } = notification;
      const asked = items.filter(({ kind }) => kind === 'ask').length;
      return {
        title: `${line(project.name)}: ${asked} ${asked === 1 ? 'request' : 'requests'} waiting`,
        body: `From key ${line(keyName)}.`,
        path: `${base}/ui/p/${project.slug}/requests`,
        tag: `digest ${notification.channel.id}`,
        isUrgent: asked > 0,
        expiresAt: null,
      };
    }
    case 'access': {
      const { project, kind, id, name, maker } = notification.access;
      return {
        title: `${line(project.name)}: new ${kind}`,
        body: `${line(name)}, from ${line(maker)}.`,
        path: `${base}/ui/p/${project.slug}/${kind}s/${id}`,
        tag: id,
        isUrgent: false,
        expiresAt: null,
      };
    }
    default:
      return null;
  }
}

/** The notice that shows whether notices work. */
export function testMessage(
  { name, slug }: ProjectInfo,
  { base, expiresAt }: { readonly base: string; readonly expiresAt: number },
): PushMessage {
  return {
    title: `${line(name)}: a test`,
    body: 'Notices work in this browser.',
    path: `${base}/ui/p/${slug}/browsers`,
    tag: 'test',
    isUrgent: true,
    expiresAt,
  };
}

/** One line of somebody else's text, which the system shows as plain text. */
function line(text: string): string {
  const chars = Array.from(shownLine(text));
  return chars.length > LINE_MAX_CHARS
    ? `${chars.slice(0, LINE_MAX_CHARS).join('')}…`
    : chars.join('');
}
