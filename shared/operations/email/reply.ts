import type { PrepareContext } from '../../kernel/context.ts';
import { invalid } from '../../lib/errors.ts';
import { EMAIL_RECIPIENTS_MAX } from '../../lib/limits.ts';
import { isMailAddress, isRouted } from '../../rules/mail/mail-address.ts';
import {
  quoteOf,
  replyReferences,
  replySubject,
  replyTargets,
  type OriginalMail,
} from '../../rules/mail/mail-reply.ts';
import { decodePayload } from '../../rules/payload/payload.ts';
import type { EventRow } from '../../store/tables/inbox/events.ts';
import type { AnsweredMail } from './answers.ts';
import { readProjectAddress } from './project-address.ts';
import { recipientsOf } from './recipients.ts';

/** What the answered mail adds to a call that names no recipients or subject of its own. */
export interface ReplyPlan {
  readonly answers: AnsweredMail;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly subject: string;
}

interface ReplyInput {
  readonly reply_to_event?: string | undefined;
  readonly reply_all: boolean;
  readonly quote: boolean;
  readonly to?: readonly string[] | undefined;
  readonly cc?: readonly string[] | undefined;
  readonly bcc?: readonly string[] | undefined;
  readonly subject?: string | undefined;
}

/** Works out a reply from the mail that it answers; null for a mail that answers none. */
export async function planReply(
  context: PrepareContext,
  wanted: ReplyInput,
): Promise<ReplyPlan | null> {
  const { reply_to_event: eventId } = wanted;
  if (eventId === undefined) return null;
  const row = await context.read((store) => store.events.findWhole(eventId, context.now));
  const original = await originalOf(context, row);
  const to = wanted.to ?? targetsOf(original);
  const cc = wanted.reply_all ? othersOf(context, original, { ...wanted, to }) : [];
  refuseTogether({ ...wanted, to, cc: [...(wanted.cc ?? []), ...cc] });
  const own = original.message_id;
  const answers = {
    event_id: eventId,
    message_id: own !== null && replyReferences(original).at(-1) === own ? own : null,
    references: replyReferences(original),
    subject: original.subject,
    from: original.from?.address ?? '',
    verified: row?.verified === 1,
    quote: wanted.quote ? quoteOf(original) : null,
  };
  return { answers, to, cc, subject: wanted.subject ?? replySubject(original) };
}

async function originalOf(
  { blobs }: PrepareContext,
  row: EventRow | undefined,
): Promise<OriginalMail> {
  if (row?.channel !== 'email') throw refused('There is no mail with this id.');
  const { kind, body, blob } = row;
  const bytes = body ?? (blob === null ? null : await blobs.read(blob));
  if (kind === null || bytes === null) throw refused("The mail's content is deleted.");
  return decodePayload(kind, bytes) as OriginalMail;
}

/** A machine that answers machines may do so forever (RFC 3834 section 2); the caller can still name an address. */
function targetsOf(original: OriginalMail): string[] {
  if (original.auto_submitted) {
    throw refused('A program sent this mail. If you want to answer it, name an address in `to`.');
  }
  const targets = distinct(replyTargets(original));
  if (targets.length === 0) throw refused('The mail names no sender: name an address in `to`.');
  if (!targets.every(isPlain)) {
    throw refused('The address to answer is no plain ASCII address: name another one in `to`.');
  }
  return targets;
}

/** Everybody else in To and Cc of the mail, but not the project itself. */
function othersOf(
  { server, project }: PrepareContext,
  { to: readers, cc: copied }: OriginalMail,
  named: ReplyInput,
): string[] {
  const taken = [named.to, named.cc, named.bcc].flatMap((some) => some ?? []);
  const known = new Set(taken.map((one) => one.toLowerCase()));
  const others = distinct([...readers, ...copied].map(({ address }) => address)).filter(
    (one) =>
      one !== '' &&
      !known.has(one.toLowerCase()) &&
      readProjectAddress(one, server.mail.domain ?? '')?.slug !== project.slug,
  );
  if (others.every(isPlain)) return others;
  const message =
    'A recipient of the mail has no plain ASCII address. Name those who get it in `cc`.';
  throw invalid({ path: 'reply_all', message });
}

/** Refuses an address of the call that gets the reply anyway, and too many recipients. */
function refuseTogether(named: ReplyInput): void {
  const recipients = recipientsOf(named);
  const seen = new Set<string>();
  for (const { address, path } of recipients) {
    const key = address.toLowerCase();
    if (seen.has(key)) throw invalid({ path, message: 'The reply goes there anyway.' });
    seen.add(key);
  }
  if (recipients.length <= EMAIL_RECIPIENTS_MAX) return;
  const message = `At most ${EMAIL_RECIPIENTS_MAX} recipients a call; these are ${recipients.length}.`;
  throw invalid({ path: named.reply_all ? 'reply_all' : 'cc', message });
}

function refused(message: string): Error {
  return invalid({ path: 'reply_to_event', message });
}

function isPlain(address: string): boolean {
  return isMailAddress(address) && !isRouted(address);
}

function distinct(addresses: readonly string[]): string[] {
  return [
    ...new Map(addresses.toReversed().map((one) => [one.toLowerCase(), one])).values(),
  ].toReversed();
}
