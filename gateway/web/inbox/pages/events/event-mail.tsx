import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Envelope } from '../../../../../shared/kernel/envelope.ts';
import type { MailPayload } from '../../../../mail/inbound/read-mail.ts';
import { addressText } from './event-copy.tsx';
import { Facts } from '../../../ui/detail.tsx';
import { FileList } from '../../../ui/files.tsx';
import { line, time } from '../../../ui/text.tsx';
import type { PageContext } from '../../page-context.ts';
import { PartOfText } from './part-of-text.tsx';

const ADDRESSES_MAX = 20;

function addresses(list: MailPayload['to'] | undefined): string {
  const all = (list ?? []).map(addressText);
  const more = all.length - ADDRESSES_MAX;
  return all.slice(0, ADDRESSES_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A mail as people read it; quoted text and formatting open with a click. */
export function mailContent(
  context: PageContext,
  event: Envelope,
  mail: Partial<MailPayload>,
): JSX.Element {
  const { from, to, cc = [], date, authentication } = mail;
  // A mail of an earlier release doesn't say.
  const unsigned = (authentication?.unsigned ?? []).join(', ').replaceAll('_', ' ');
  return (
    <>
      <p class="summary">{line(mail.subject || '(no subject)')}</p>
      <Facts
        facts={[
          ['From', line(from ? addressText(from) : 'nobody')],
          ['To', line(addresses(to))],
          cc.length > 0 && ['Cc', line(addresses(cc))],
          date ? ['Date', time(context, date)] : null,
          unsigned !== '' && ['Not signed by the sender', unsigned],
        ]}
      />
      {mailText(context, event, mail)}
      <EventFiles event={event} />
    </>
  );
}

function mailText(context: PageContext, event: Envelope, mail: Partial<MailPayload>): JSX.Element {
  const text = mail.text ?? '';
  const stripped = mail.text_stripped ?? text;
  const isStripped = stripped !== text && context.query('text') !== 'whole';
  return (
    <div class="text">
      {mail.incomplete && <p class="soft">Some of it couldn’t be read ({mail.incomplete}).</p>}
      <PartOfText context={context} text={isStripped ? stripped : text} />
      <p class="ways">
        {isStripped && <a href="?text=whole">Show quoted text</a>}
        {event.html_url && (
          <a href={event.html_url} rel="noreferrer noopener" target="_blank">
            Open the formatted email
          </a>
        )}
      </p>
    </div>
  );
}

const BLOCKED = {
  executable: 'a program',
  encrypted_archive: 'an encrypted archive',
  too_large: 'too large',
  too_many: 'too many files',
} as const;

/** The files of a mail, with links to those that the visitor may open. */
export function EventFiles({ event }: { readonly event: Envelope }): JSX.Element {
  const { attachments = [], attachments_blocked: blocked = [] } = event;
  return (
    <FileList
      files={[
        ...attachments,
        ...blocked.map(({ reason, ...file }) => ({ ...file, blocked: BLOCKED[reason] })),
      ]}
    >
      {attachments.length > 0 && (
        <p class="soft">
          To read one: <code class="mono">svc file get {event.id}/NAME</code>
        </p>
      )}
    </FileList>
  );
}
