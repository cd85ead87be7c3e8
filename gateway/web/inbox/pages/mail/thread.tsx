import type { JSX } from 'hono/jsx/jsx-runtime';
import { ServiceError } from '../../../../../shared/lib/errors.ts';
import { AgentText, LongText, Time } from '../../../pages/request-copy.tsx';
import { addressText, EventStatusChip, mailOf, Verified } from '../../event-copy.tsx';
import { lookAtEvent, type SeenEvent } from '../../event-queries.ts';
import { threadOf, type SentMail, type Thread } from '../../mail-queries.ts';
import { Fact, UpLink } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { Files } from '../event-mail.tsx';
import { Attached, NoContent, SentHead } from './sent.tsx';
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
      <h1>
        <AgentText text={subjectOf(shown) || '(no subject)'} reading="line" />
      </h1>
      {earlier !== null && (
        <p>
          <a class="go" href={`?before=${encodeURIComponent(earlier)}`}>
            Earlier mails
          </a>
        </p>
      )}
      {shown.map((mail) =>
        mail.kind === 'sent' ? (
          <Sent context={context} mail={mail} />
        ) : (
          <Received context={context} seen={mail} />
        ),
      )}
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
  try {
    return [{ kind: 'received', ...(await lookAtEvent(context, mail.id)) }];
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return [];
    throw error;
  }
}

function subjectOf(mails: readonly ShownMail[]): string {
  const subjects = mails.map((mail) =>
    mail.kind === 'sent' ? mail.subject : (mailOf(mail.event)?.subject ?? ''),
  );
  return subjects.find((subject) => subject !== '') ?? '';
}

function Received({
  context,
  seen,
}: {
  readonly context: PageContext;
  readonly seen: SeenEvent;
}): JSX.Element {
  const { event } = seen;
  const mail = mailOf(event);
  const text = mail?.text_stripped ?? mail?.text ?? null;
  return (
    <article class="said mail">
      <h2 class="headed">
        Received <EventStatusChip status={event.status} />
      </h2>
      <dl class="facts">
        <Fact name="From">
          <AgentText text={mail?.from ? addressText(mail.from) : 'unknown'} reading="line" />
          {', '}
          <Verified event={event} />
        </Fact>
        <Fact name="Date">
          <Time at={Date.parse(event.received_at)} now={context.now} />
        </Fact>
      </dl>
      <div class="text">
        {text === null ? (
          <p class="soft">
            {event.payload_purged
              ? 'Content is kept for 30 days. This mail is older.'
              : 'Open the mail to read it.'}
          </p>
        ) : (
          <Beginning text={text} />
        )}
        <p class="ways">
          <a href={context.at('events', event.id)}>Open this mail</a>
        </p>
      </div>
      <Files event={event} />
    </article>
  );
}

function Sent({
  context,
  mail,
}: {
  readonly context: PageContext;
  readonly mail: SentMail;
}): JSX.Element {
  return (
    <article class="said mail sent">
      <h2 class="headed">
        Sent by an agent <StatesChip mail={mail} />
      </h2>
      <SentHead context={context} mail={mail} />
      <div class="text">
        {mail.content === null ? <NoContent mail={mail} /> : <Beginning text={mail.content.text} />}
        <p class="ways">
          <a href={context.at('mail', mail.id)}>Open this mail</a>
        </p>
      </div>
      <Attached context={context} mail={mail} />
      <States context={context} mail={mail} />
    </article>
  );
}

function Beginning({ text }: { readonly text: string }): JSX.Element {
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
