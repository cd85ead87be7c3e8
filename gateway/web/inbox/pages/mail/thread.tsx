import type { JSX } from 'hono/jsx/jsx-runtime';
import { LongText } from '../../../pages/request-copy.tsx';
import { addressText, EventStatusChip, mailOf, Verified } from '../events/event-copy.tsx';
import { seenEvent, type SeenEvent } from '../events/event-queries.ts';
import { threadOf, type SentMail, type Thread } from './mail-queries.ts';
import { Facts } from '../../../ui/detail.tsx';
import { line, time } from '../../../ui/text.tsx';
import { UpLink } from '../../../ui/parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { EventFiles } from '../events/event-mail.tsx';
import { noContent, sentFiles, sentHead } from './sent.tsx';
import { States, StatesChip } from './states.tsx';

/** How much of each mail's text a thread shows. */
const TEXT_SHOWN_CHARS = 6000;

type ShownMail = SentMail | (SeenEvent & { readonly kind: 'received' });

/** The mails of a thread, the oldest first. */
export async function showThread(context: PageContext, id: string): Promise<PageResult> {
  const { mails, earlier } = await threadOf(context, id);
  const shown = (await Promise.all(mails.map((mail) => whole(context, mail)))).flat();
  const content = (
    <>
      <UpLink href={context.at('mail')}>Mail</UpLink>
      <h1>{line(subjectOf(shown) || '(no subject)')}</h1>
      {earlier !== null && (
        <p>
          <a class="go" href={`?before=${encodeURIComponent(earlier)}`}>
            Earlier mails
          </a>
        </p>
      )}
      {shown.map((mail) => (mail.kind === 'sent' ? sent(context, mail) : received(context, mail)))}
      {context.query('before') !== undefined && (
        <p>
          <a class="go" href="?">
            Newest mails
          </a>
        </p>
      )}
    </>
  );
  return { title: 'Thread', content };
}

async function whole(context: PageContext, mail: Thread['mails'][number]): Promise<ShownMail[]> {
  if (mail.kind === 'sent') return [mail];
  const seen = await context.read(seenEvent, { id: mail.id });
  return seen ? [{ kind: 'received', ...seen }] : [];
}

function subjectOf(mails: readonly ShownMail[]): string {
  const subjects = mails.map((mail) =>
    mail.kind === 'sent' ? mail.subject : (mailOf(mail.event)?.subject ?? ''),
  );
  return subjects.find((subject) => subject !== '') ?? '';
}

function received(context: PageContext, { event }: SeenEvent): JSX.Element {
  const mail = mailOf(event);
  const text = mail?.text_stripped ?? mail?.text ?? null;
  return (
    <article class="said mail">
      <h2 class="headed">
        Received <EventStatusChip status={event.status} />
      </h2>
      <Facts
        facts={[
          [
            'From',
            <>
              {line(mail?.from ? addressText(mail.from) : 'unknown')}, <Verified event={event} />
            </>,
          ],
          ['Date', time(context, event.received_at)],
        ]}
      />
      <div class="text">
        {text === null ? (
          <p class="soft">
            {event.payload_purged
              ? 'Content is kept for 30 days. This mail is older.'
              : 'Open the mail to read it.'}
          </p>
        ) : (
          beginning(text)
        )}
        <p class="ways">
          <a href={context.at('events', event.id)}>Open this mail</a>
        </p>
      </div>
      <EventFiles event={event} />
    </article>
  );
}

function sent(context: PageContext, mail: SentMail): JSX.Element {
  return (
    <article class="said mail sent">
      <h2 class="headed">
        Sent by an agent <StatesChip mail={mail} />
      </h2>
      {sentHead(context, mail)}
      <div class="text">
        {mail.content === null ? noContent(mail) : beginning(mail.content.text)}
        <p class="ways">
          <a href={context.at('mail', mail.id)}>Open this mail</a>
        </p>
      </div>
      {sentFiles(context, mail)}
      <States context={context} mail={mail} />
    </article>
  );
}

function beginning(text: string): JSX.Element {
  const shown = text.slice(0, TEXT_SHOWN_CHARS).toWellFormed();
  return (
    <>
      <LongText text={shown} mono={false} />
      {shown.length < text.length && (
        <p class="soft">This is the beginning. Open the mail for the rest.</p>
      )}
    </>
  );
}
