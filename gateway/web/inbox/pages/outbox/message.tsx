import type { JSX } from 'hono/jsx/jsx-runtime';
import { pluralize } from '../../../../../shared/lib/pluralize.ts';
import { isNotification, type OutboxMessage } from '../../../../../shared/host/outbox.ts';
import { LongText } from '../../../pages/request-copy.tsx';
import { keptMessage, partUrl } from './outbox-queries.ts';
import { Facts, Headers, Said } from '../../../ui/detail.tsx';
import { FileList } from '../../../ui/files.tsx';
import { line, mono, time } from '../../../ui/text.tsx';
import { UpLink } from '../../../ui/parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { PartOfText } from '../events/part-of-text.tsx';
import { parsedUrl } from '../../../../../shared/lib/urls.ts';

const HTML_SHOWN_CHARS = 20_000;

/** One kept mail, as its reader would have got it: always as text. */
export async function showMessage(context: PageContext, id: string): Promise<PageResult> {
  const message = await keptMessage(context, id);
  const { subject, text, html, file, headers, attachments } = message;
  // They only download: no page shows them.
  const files = attachments.map(({ name, ...about }, part) => ({
    name: name || '(no name)',
    ...about,
    url: partUrl(context, { messageId: id, part }),
  }));
  const content = (
    <>
      <UpLink href={context.at('outbox')}>Outbox</UpLink>
      <h1>{line(subject || '(no subject)')}</h1>
      <Said by="Mail that wasn’t sent. Agents may have written parts of it.">
        {headOf(context, message)}
        <div class="text">
          <PartOfText
            context={context}
            text={text}
            isCode={isNotification(message)}
            writer="its writer"
          />
        </div>
        <FileList files={files} />
        {ways(context, message)}
        <details>
          <summary>{pluralize(headers.length, 'header')}</summary>
          <Headers headers={headers} />
        </details>
        {html !== null && (
          <details>
            <summary>The HTML part, as code</summary>
            <LongText text={html.slice(0, HTML_SHOWN_CHARS).toWellFormed()} mono />
          </details>
        )}
      </Said>
      <p class="soft">The whole mail: {mono(file)}</p>
    </>
  );
  return { title: 'Kept mail', content };
}

function headOf(context: PageContext, message: OutboxMessage): JSX.Element {
  const { from, to, cc, deliveredTo, sentAt, link } = message;
  return (
    <Facts
      facts={[
        from !== '' && ['From', line(from)],
        to !== '' && ['To', line(to)],
        cc !== '' && ['Cc', line(cc)],
        deliveredTo ? ['Copy for', line(deliveredTo)] : null,
        ['Date', time(context, sentAt)],
        link !== null &&
          isOurs(context, link) && [
            'Its link',
            <a class="go" href={link} rel="noreferrer noopener" target="_blank">
              Open
            </a>,
          ],
      ]}
    />
  );
}

/** A link of this gateway, which our own messages have. */
function isOurs({ inbox }: PageContext, link: string): boolean {
  return parsedUrl(link) !== null && link.startsWith(`${inbox.publicUrl}/`);
}

/** The mail as its reader's program would show it, and as a file for one. */
function ways(context: PageContext, { id, html }: OutboxMessage): JSX.Element {
  const urlOf = (part: 'html' | 'mail'): string => partUrl(context, { messageId: id, part });
  return (
    <div class="text">
      <p class="ways">
        {html !== null && (
          <a href={urlOf('html')} rel="noreferrer noopener" target="_blank">
            Open the formatted email
          </a>
        )}
        <a href={urlOf('mail')} rel="noreferrer noopener">
          Download the mail (.eml)
        </a>
      </p>
    </div>
  );
}
