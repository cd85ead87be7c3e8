import type { JSX } from 'hono/jsx/jsx-runtime';
import type { Envelope } from '../../../../shared/kernel/envelope.ts';
import type { MailPayload } from '../../../mail/inbound/read-mail.ts';
import { digitsOf } from '../../pages/number.ts';
import { AgentText, Time } from '../../pages/request-copy.tsx';
import { addressText } from '../event-copy.tsx';
import { Fact } from '../parts.tsx';
import type { PageContext } from '../page-context.ts';
import { PartOfText } from './part-of-text.tsx';
import { nounFor } from '../../../../shared/lib/pluralize.ts';

const ADDRESSES_MAX = 20;

function addresses(list: MailPayload['to'] | undefined): string {
  const all = (list ?? []).map(addressText);
  const more = all.length - ADDRESSES_MAX;
  return all.slice(0, ADDRESSES_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

interface MailProps {
  readonly context: PageContext;
  readonly event: Envelope;
  readonly mail: Partial<MailPayload>;
}

/** A mail as people read it; quoted text and formatting open with a click. */
export function Mail({ context, event, mail }: MailProps): JSX.Element {
  return (
    <>
      <p class="summary">
        <AgentText text={mail.subject || '(no subject)'} reading="line" />
      </p>
      <Head context={context} mail={mail} />
      <Words context={context} event={event} mail={mail} />
      <Files event={event} />
    </>
  );
}

function Head({
  context: { now },
  mail: { from, to, cc = [], date },
}: Omit<MailProps, 'event'>): JSX.Element {
  return (
    <dl class="facts">
      <Fact name="From">
        <AgentText text={from ? addressText(from) : 'nobody'} reading="line" />
      </Fact>
      <Fact name="To">
        <AgentText text={addresses(to)} reading="line" />
      </Fact>
      {cc.length > 0 && (
        <Fact name="Cc">
          <AgentText text={addresses(cc)} reading="line" />
        </Fact>
      )}
      {date && (
        <Fact name="Date">
          <Time at={Date.parse(date)} now={now} />
        </Fact>
      )}
    </dl>
  );
}

function Words({ context, event, mail }: MailProps): JSX.Element {
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

/** A file name, with a link if the visitor may open the file. */
function FileName({ name, url }: { readonly name: string; readonly url?: string | undefined }) {
  const shown = <AgentText text={name} reading="line" />;
  if (url === undefined) return shown;
  return (
    <a href={url} rel="noreferrer noopener">
      {shown}
    </a>
  );
}

export function Files({ event }: { readonly event: Envelope }): JSX.Element | null {
  const { attachments = [], attachments_blocked: blocked = [] } = event;
  if (attachments.length + blocked.length === 0) return null;
  return (
    <div class="text">
      <h2>Files</h2>
      <ul class="plain">
        {attachments.map(({ name, content_type: type, size_bytes: size, url }) => (
          <li>
            <FileName name={name} url={url} />{' '}
            <span class="soft">
              <AgentText text={type} reading="line" />, {digitsOf(size)} {nounFor(size, 'byte')}
            </span>
          </li>
        ))}
        {blocked.map(({ name, size_bytes: size, reason }) => (
          <li>
            <s>
              <AgentText text={name} reading="line" />
            </s>{' '}
            <span class="soft">
              {digitsOf(size)} {nounFor(size, 'byte')}, not stored: {BLOCKED[reason]}
            </span>
          </li>
        ))}
      </ul>
      {attachments.length > 0 && (
        <p class="soft">
          To read one: <code class="mono">svc file get {event.id}/NAME</code>
        </p>
      )}
    </div>
  );
}
