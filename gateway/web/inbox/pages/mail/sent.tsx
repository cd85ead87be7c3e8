import type { JSX } from 'hono/jsx/jsx-runtime';
import { digitsOf } from '../../../pages/number.ts';
import { AgentText, LongText, Time } from '../../../pages/request-copy.tsx';
import { findSent, type SentMail } from '../../mail-queries.ts';
import { Fact, UpLink } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { diskUrl } from '../disk/parts.tsx';
import { PartOfText } from '../part-of-text.tsx';
import { States } from './states.tsx';

/** The browser gets no more of the HTML, as it has the text already. */
const HTML_SHOWN_CHARS = 60_000;

/** One mail that an agent sent: all of it, and what became of it. */
export async function showSentMail(context: PageContext, id: string): Promise<PageResult> {
  const mail = await findSent(context, id);
  const { threadId, content } = mail;
  const isThreaded = threadId !== null;
  const page = (
    <>
      <UpLink href={isThreaded ? context.at('mail', threadId) : context.at('mail')}>
        {isThreaded ? 'The thread' : 'Mail'}
      </UpLink>
      <h1>
        <AgentText text={mail.subject || '(no subject)'} reading="line" />
      </h1>
      <States context={context} mail={mail} />
      <figure class="said">
        <figcaption>Written by an agent</figcaption>
        <SentHead context={context} mail={mail} />
        <div class="text">
          {content === null ? (
            <NoContent mail={mail} />
          ) : (
            <PartOfText context={context} text={content.text} writer="the agent" />
          )}
        </div>
        <Attached context={context} mail={mail} />
        {content?.html && (
          <details>
            <summary>The HTML that most readers see, as code</summary>
            <LongText text={content.html.slice(0, HTML_SHOWN_CHARS).toWellFormed()} mono />
            {content.html.length > HTML_SHOWN_CHARS && (
              <p class="soft">
                This is the beginning. It has {digitsOf(content.html.length)} characters.
              </p>
            )}
          </details>
        )}
      </figure>
    </>
  );
  return { title: 'Sent mail', content: page };
}

export function SentHead({
  context,
  mail,
}: {
  readonly context: PageContext;
  readonly mail: SentMail;
}): JSX.Element {
  const answers = mail.content?.answers ?? null;
  return (
    <dl class="facts">
      <Fact name="From">
        <AgentText text={mail.from} reading="line" />
      </Fact>
      <Fact name={mail.status === 'pending' ? 'Asked' : 'Date'}>
        <Time at={Date.parse(mail.at)} now={context.now} />
      </Fact>
      {mail.requestId !== null && (
        <Fact name="Approval">
          <a href={context.at('requests', mail.requestId)}>
            {mail.status === 'pending' ? 'waits for a decision' : 'the request'}
          </a>
        </Fact>
      )}
      {answers !== null && (
        <Fact name="Answers">
          <a href={context.at('events', answers.event_id)}>
            <AgentText text={answers.subject || '(no subject)'} reading="line" />
          </a>
          {!answers.verified && ', not verified'}
        </Fact>
      )}
    </dl>
  );
}

export function NoContent({ mail }: { readonly mail: SentMail }): JSX.Element {
  return (
    <p class="soft">
      {mail.isForgotten
        ? 'The text and the files are deleted by now.'
        : 'This key doesn’t see the text and files of other keys’ mail.'}
    </p>
  );
}

/** The files that went with a mail, as they were then. */
export function Attached({
  context,
  mail,
}: {
  readonly context: PageContext;
  readonly mail: SentMail;
}): JSX.Element | null {
  const attachments = mail.content?.attachments ?? [];
  if (attachments.length === 0) return null;
  return (
    <div class="text">
      <h2>Files</h2>
      <ul class="plain">
        {attachments.map(({ path, name, content_type: type, size_bytes: size }) => (
          <li>
            <a class="go" href={diskUrl(context, 'files', { path })}>
              <AgentText text={name} reading="line" />
            </a>{' '}
            <span class="soft">
              <AgentText text={type} reading="line" />, {digitsOf(size)} bytes
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
