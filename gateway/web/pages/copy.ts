import type { Choice, RequestKind, RequestStatus, RequestView } from '../../approvals/approvals.ts';
import type { IconName } from '../ui/icons.tsx';

interface KindWords {
  /** The name of the kind, for sentences and tab titles. */
  readonly noun: string;
  readonly heading: string;
  /** What a yes leads to, in our words, because the agent's words may say something else. */
  readonly lead: string;
}

export const KINDS: Readonly<Record<RequestKind, KindWords>> = {
  approval: {
    noun: 'Approval',
    heading: 'Approve this action?',
    lead: 'An agent asks for your decision.',
  },
  question: {
    noun: 'Question',
    heading: 'An agent asks you',
    lead: 'Your answer goes back to the agent.',
  },
  policy: {
    noun: 'Policy change',
    heading: 'Change the rules?',
    lead: 'Once approved, these rules decide what agents may do without asking a person.',
  },
  file_url: {
    noun: 'Public link',
    heading: 'Create a public link to a file?',
    lead: 'Anyone with the link can download the file until it expires.',
  },
  email_send: {
    noun: 'Email',
    heading: 'Send this email?',
    lead: 'It’s sent as soon as you approve. You can’t take it back.',
  },
  channel: {
    noun: 'New approver',
    heading: 'Add an approver?',
    lead: 'Once you approve, this person approves and denies in this project, just as you do.',
  },
  member: {
    noun: 'Change of members',
    heading: 'Allow this change?',
    lead: 'Someone with an admin key wants to change this project, or who may decide in it.',
  },
};

type EndStatus = Exclude<RequestStatus, 'pending'>;

interface EndWords {
  readonly heading: string;
  readonly tone: 'good' | 'bad' | 'calm';
  readonly icon: IconName;
  /** What the status means for the agent. */
  readonly meaning: string;
  /** As in `It was already approved`. */
  readonly participle: string;
}

const ENDS: Readonly<Record<EndStatus, EndWords>> = {
  approved: {
    heading: 'Approved',
    tone: 'good',
    icon: 'yes',
    meaning: 'The agent may go on.',
    participle: 'approved',
  },
  modified: {
    heading: 'Approved with a change',
    tone: 'good',
    icon: 'yes',
    meaning: 'The agent may go on, but only like this:',
    participle: 'approved with a change',
  },
  denied: {
    heading: 'Denied',
    tone: 'bad',
    icon: 'no',
    meaning: 'The agent may not do this.',
    participle: 'denied',
  },
  needs_context: {
    heading: 'More context requested',
    tone: 'calm',
    icon: 'ask',
    meaning: 'Nothing is approved. The agent has to ask again with more context.',
    participle: 'sent back for more context',
  },
  answered: {
    heading: 'Answered',
    tone: 'good',
    icon: 'yes',
    meaning: 'The agent got this answer:',
    participle: 'answered',
  },
  expired: {
    heading: 'Expired, not approved',
    tone: 'calm',
    icon: 'time',
    meaning:
      'Nobody decided in time, so it isn’t approved. If it still matters, the agent can ask again.',
    participle: 'expired',
  },
};

const MEANINGS: Readonly<Partial<Record<RequestKind, Partial<Record<EndStatus, string>>>>> = {
  policy: {
    approved: 'The new rules are in force.',
    denied: 'The rules stay as they were.',
    needs_context:
      'The rules stay as they were. The agent has to propose them again with more context.',
    expired: 'Nobody decided in time. The rules stay as they were.',
  },
  file_url: {
    approved: 'The agent can now create this link, once.',
    denied: 'No link is created.',
  },
  email_send: {
    approved: 'The email is on its way.',
    denied: 'The email isn’t sent.',
    expired: 'Nobody decided in time. The email isn’t sent.',
  },
  channel: {
    approved: 'This channel can now decide.',
    denied: 'This channel can’t decide anything.',
    expired: 'Nobody decided in time. This channel can’t decide anything.',
  },
  member: {
    approved: 'It is as you approved.',
    denied: 'Everything stays as it was.',
    expired: 'Nobody decided in time. Everything stays as it was.',
  },
  question: {
    needs_context: 'The question isn’t answered. The agent has to ask again with more context.',
    denied: 'The question is closed without an answer.',
    expired: 'Nobody answered in time. If it still matters, the agent can ask again.',
  },
};

const WITHDRAWN: EndWords = {
  heading: 'Withdrawn',
  tone: 'calm',
  icon: 'time',
  meaning: 'There’s nothing to decide any more, and nothing was approved. The reason:',
  participle: 'withdrawn',
};

/** How a request ended, in words for its kind. */
export function endOf(
  { kind, withdrawn }: Pick<RequestView, 'kind' | 'withdrawn'>,
  status: EndStatus,
): EndWords {
  if (withdrawn !== null) return WITHDRAWN;
  const words = ENDS[status];
  const meaning = MEANINGS[kind]?.[status] ?? words.meaning;
  const heading =
    kind === 'question' && status === 'expired' ? 'Expired, not answered' : words.heading;
  return { ...words, meaning, heading };
}

/** The name of a button, for sentences. */
const VERBS: Readonly<Record<Choice['verb'], string>> = {
  approve: 'Approve',
  deny: 'Deny',
  option: 'choice',
  answer: 'answer',
  needs_context: 'question for more context',
};

const ENDS_IN: Readonly<Record<Choice['verb'], readonly RequestStatus[]>> = {
  approve: ['approved'],
  deny: ['denied'],
  option: ['modified', 'answered'],
  answer: ['answered'],
  needs_context: ['needs_context'],
};

/**
 * What happened to a choice that came too late. Only a plain yes or no can count as the same as the actual result,
 * because an option or an answer may have been a different one.
 */
export function lateSentence(verb: Choice['verb'], status: EndStatus, isWithdrawn = false): string {
  const same = ENDS_IN[verb].includes(status) && (verb === 'approve' || verb === 'deny');
  const { participle } = isWithdrawn ? WITHDRAWN : ENDS[status];
  if (same)
    return `It was already ${participle} when your ${VERBS[verb]} arrived, so nothing changed.`;
  const already =
    status === 'expired' && !isWithdrawn ? 'had expired' : `was already ${participle}`;
  return `Your ${VERBS[verb]} came too late and changed nothing: the request ${already}.`;
}

export function isVerb(text: string | undefined): text is Choice['verb'] {
  return text !== undefined && Object.hasOwn(VERBS, text);
}

/** The effective status: a request past its expiry has expired, even if nobody has recorded it. */
export function statusAt(request: RequestView, now: number): RequestStatus {
  return request.status === 'pending' && now >= request.expiresAt ? 'expired' : request.status;
}
