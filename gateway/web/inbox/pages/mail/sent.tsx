import type { JSX } from 'hono/jsx/jsx-runtime';
import { digitsOf } from '../../../ui/number.ts';
import { LongText } from '../../../pages/request-copy.tsx';
import { Facts, Said } from '../../../ui/detail.tsx';
import { FileList } from '../../../ui/files.tsx';
import { line, time } from '../../../ui/text.tsx';
import { findSent, type SentMail } from './mail-queries.ts';
import { UpLink } from '../../../ui/parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { diskUrl } from '../disk/parts.tsx';
import { PartOfText } from '../events/part-of-text.tsx';
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
      <h1>{line(mail.subject || '(no subject)')}</h1>
      <States context={context} mail={mail} />
      <Said by="Written by an agent">
        {sentHead(context, mail)}
        <div class="text">
          {content === null ? (
            noContent(mail)
          ) : (
            <PartOfText context={context} text={content.text} writer="the agent" />
          )}
        </div>
        {sentFiles(context, mail)}
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
      </Said>
    </>
  );
  return { title: 'Sent mail', content: page };
}

export function sentHead(context: PageContext, mail: SentMail): JSX.Element {
  const isPending = mail.status === 'pending';
  const answers = mail.content?.answers ?? null;
  return (
    <Facts
      facts={[
        ['From', line(mail.from)],
        [isPending ? 'Asked' : 'Date', time(context, mail.at)],
        mail.requestId !== null && [
          'Approval',
          <a href={context.at('requests', mail.requestId)}>
            {isPending ? 'waits for a decision' : 'the request'}
          </a>,
        ],
        answers !== null && [
          'Answers',
          <>
            <a href={context.at('events', answers.event_id)}>
              {line(answers.subject || '(no subject)')}
            </a>
            {!answers.verified && ', not verified'}
          </>,
        ],
      ]}
    />
  );
}

export function noContent({ isForgotten }: SentMail): JSX.Element {
  return (
    <p class="soft">
      {isForgotten
        ? 'The text and the files have been deleted.'
        : 'This key doesn’t see the text and files of other keys’ mail.'}
    </p>
  );
}

/** The files that went with a mail, as they were then. */
export function sentFiles(context: PageContext, { content }: SentMail): JSX.Element {
  const files = content?.attachments ?? [];
  return (
    <FileList
      files={files.map((file) => ({
        ...file,
        url: diskUrl(context, 'files', { path: file.path }),
      }))}
    />
  );
}
