import type { JSX } from 'hono/jsx/jsx-runtime';
import { nounFor, pluralize } from '../../../../../shared/lib/pluralize.ts';
import { isNotification, type OutboxMessage } from '../../../../../shared/host/outbox.ts';
import { digitsOf } from '../../../pages/number.ts';
import { AgentText, LongText, Time } from '../../../pages/request-copy.tsx';
import { keptMessage, partUrl } from '../../outbox-queries.ts';
import { Fact, UpLink } from '../../parts.tsx';
import type { PageContext, PageResult } from '../../page-context.ts';
import { PartOfText } from '../part-of-text.tsx';

const HEADER_MAX_CHARS = 2000;
const HTML_SHOWN_CHARS = 20_000;

/** One kept mail, as its reader would have got it: always as text. */
export async function showMessage(context: PageContext, id: string): Promise<PageResult> {
  const message = await keptMessage(context, id);
  const { subject, text, html, file } = message;
  const content = (
    <>
      <UpLink href={context.at('outbox')}>Outbox</UpLink>
      <h1>
        <AgentText text={subject || '(no subject)'} reading="line" />
      </h1>
      <figure class="said">
        <figcaption>Mail that wasn’t sent. Agents may have written parts of it.</figcaption>
        <Head context={context} message={message} />
        <div class="text">
          <PartOfText
            context={context}
            text={text}
            isCode={isNotification(message)}
            writer="its writer"
          />
        </div>
        <Attached context={context} message={message} />
        <Ways context={context} message={message} />
        <Headers message={message} />
        {html !== null && (
          <details>
            <summary>The HTML part, as code</summary>
            <LongText text={html.slice(0, HTML_SHOWN_CHARS).toWellFormed()} mono />
          </details>
        )}
      </figure>
      <p class="soft">
        The whole mail: <AgentText text={file} reading="exact" class="mono" />
      </p>
    </>
  );
  return { title: 'Kept mail', content };
}

interface MessageProps {
  readonly context: PageContext;
  readonly message: OutboxMessage;
}

function Head({ context, message }: MessageProps): JSX.Element {
  const { from, to, cc, deliveredTo, sentAt, link } = message;
  const lines = [
    ['From', from],
    ['To', to],
    ['Cc', cc],
    ['Copy for', deliveredTo ?? ''],
  ] as const;
  return (
    <dl class="facts">
      {lines
        .filter(([, text]) => text !== '')
        .map(([name, text]) => (
          <Fact name={name}>
            <AgentText text={text} reading="line" />
          </Fact>
        ))}
      <Fact name="Date">
        <Time at={Date.parse(sentAt)} now={context.now} />
      </Fact>
      {link !== null && isOurs(context, link) && (
        <Fact name="Its link">
          <a class="go" href={link} rel="noreferrer noopener" target="_blank">
            Open
          </a>
        </Fact>
      )}
    </dl>
  );
}

/** A link of this gateway, which our own messages have. */
function isOurs({ inbox }: PageContext, link: string): boolean {
  return URL.canParse(link) && link.startsWith(`${inbox.publicUrl}/`);
}

/** The mail as its reader's program would show it, and as a file for one. */
function Ways({ context, message: { id, html } }: MessageProps): JSX.Element {
  return (
    <div class="text">
      <p class="ways">
        {html !== null && (
          <a
            href={partUrl(context, { messageId: id, part: 'html' })}
            rel="noreferrer noopener"
            target="_blank"
          >
            Open the formatted email
          </a>
        )}
        <a href={partUrl(context, { messageId: id, part: 'mail' })} rel="noreferrer noopener">
          Download the mail (.eml)
        </a>
      </p>
    </div>
  );
}

/** Its files, which only download: no page shows them. */
function Attached({ context, message }: MessageProps): JSX.Element | null {
  const { id, attachments } = message;
  if (attachments.length === 0) return null;
  return (
    <div class="text">
      <h2>Files</h2>
      <ul class="plain">
        {attachments.map(({ name, content_type: type, size_bytes: size }, index) => (
          <li>
            <a
              class="go"
              href={partUrl(context, { messageId: id, part: index })}
              rel="noreferrer noopener"
            >
              <AgentText text={name || '(no name)'} reading="line" />
            </a>{' '}
            <span class="soft">
              <AgentText text={type} reading="line" />, {digitsOf(size)} {nounFor(size, 'byte')}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Headers({ message }: { readonly message: OutboxMessage }): JSX.Element {
  const { headers } = message;
  return (
    <details>
      <summary>{pluralize(headers.length, 'header')}</summary>
      <dl class="facts">
        {headers.map(([name, value]) => (
          <Fact name={<AgentText text={name} reading="exact" class="mono" />}>
            <AgentText
              text={value.slice(0, HEADER_MAX_CHARS).toWellFormed()}
              reading="line"
              class="mono"
            />
          </Fact>
        ))}
      </dl>
    </details>
  );
}
