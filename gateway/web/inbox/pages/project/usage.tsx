import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { AnswerOf } from '../../../../../shared/kernel/operation.ts';
import { usage } from '../../../../../shared/operations/usage.ts';
import { Icon } from '../../../ui/icons.tsx';
import { digitsOf } from '../../../ui/number.ts';
import { AgentText, Time } from '../../../pages/request-copy.tsx';
import { Bar, Heading } from '../../../ui/parts.tsx';
import { bytesText } from '../../../ui/bytes-text.ts';
import type { PageResult, UiPage, PageContext } from '../../page-context.ts';

/** How much of its limits the project uses. */
export const usagePage: UiPage = {
  path: 'usage',
  title: 'Usage',
  group: 'settings',
  setting: { section: 'Records', about: 'How much of each limit the project uses.' },
  scope: 'any',
  topics: ['any'],
  show,
};

type Usage = AnswerOf<typeof usage>;

async function show(context: PageContext): Promise<PageResult> {
  const answer = await context.call(usage, {});
  const { disk, emails, events, keys, transfer, replica_log: log } = answer;
  const monthEnds = <Time at={Date.parse(transfer.resets_at)} now={context.now} />;
  const content = (
    <>
      <Heading
        title="Usage"
        lead="How much the project uses, and what happens when it reaches a limit."
      />
      <Group id="disk" title="Disk">
        <Quota name="Storage" used={disk.used_bytes} limit={disk.limit_bytes} text={bytesText}>
          Keys {bytesText(disk.key_bytes)}, files {bytesText(disk.file_bytes)}, open uploads{' '}
          {bytesText(disk.upload_bytes)}. When it’s full, nothing more can be stored
          (QUOTA_EXCEEDED) until you delete something. Reading still works.
        </Quota>
        <Quota name="Keys on the disk" used={keys.used} limit={keys.limit} text={digitsOf}>
          At the limit, you can’t add keys, but you can still change the ones you have.
        </Quota>
        <Quota
          name="Transfer this month"
          used={transfer.used_bytes}
          limit={transfer.limit_bytes}
          text={bytesText}
        >
          Downloads through file links. At the limit, the links stop until the month ends, at{' '}
          {monthEnds}.
        </Quota>
      </Group>
      <Events events={events} />
      <ReplicaLog log={log} />
      <Group id="mail" title="Mail">
        {emails.blocked !== null && (
          <div class="note warn" role="alert">
            <Icon name="warn" />
            <p>
              <strong>This project can’t send email.</strong>{' '}
              <AgentText text={emails.blocked} reading="line" /> Only the operator of this server
              can let it send again.
            </p>
          </div>
        )}
        <Quota name="Sent today" used={emails.today} limit={emails.day_limit} text={digitsOf}>
          At the limit, sending fails (SEND_LIMIT_REACHED) until the day ends, at 00:00 UTC.
        </Quota>
        <Quota
          name="Sent this month"
          used={emails.this_month}
          limit={emails.month_limit}
          text={digitsOf}
        >
          At the limit, sending fails until the month ends, at {monthEnds}. Each recipient counts as
          one.
        </Quota>
      </Group>
    </>
  );
  return { title: 'Usage', content };
}

function Events({ events }: Pick<Usage, 'events'>): JSX.Element {
  const { stored_bytes: used, limit_bytes: limit, source_limits: limits, sources } = events;
  return (
    <Group id="events" title="Events">
      <Quota name="Stored events" used={used} limit={limit} text={bytesText}>
        Payloads, headers and attachments, for 30 days. At the limit, senders are told to try again
        later (RATE_LIMITED), and mail stays in the mailbox.
      </Quota>
      {sources.map(({ name, stored_bytes: bytes, limited }) => (
        <Quota
          name={<AgentText text={name} reading="exact" />}
          used={bytes}
          limit={limits.stored_bytes}
          text={bytesText}
        >
          {limited !== null && 'It has reached a limit: senders must wait.'}
        </Quota>
      ))}
    </Group>
  );
}

function ReplicaLog({ log }: { readonly log: Usage['replica_log'] }): JSX.Element {
  return (
    <Group id="replicas" title="Replicas">
      <Quota name="Kept log" used={log.stored_bytes} limit={null} text={bytesText}>
        For members’ replicas that were away for up to a day. It takes at most{' '}
        {bytesText(log.limit_bytes)} of the server’s disk and counts in no limit of yours. The
        oldest part goes first, and a replica that needs it makes a new copy.
      </Quota>
    </Group>
  );
}

function Group({
  id,
  title,
  children,
}: {
  readonly id: string;
  readonly title: string;
  readonly children?: Child;
}): JSX.Element {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div class="card quotas">{children}</div>
    </section>
  );
}

/** A bar warns from this share on. */
export const NEAR = 0.8;

function Quota({
  name,
  used,
  limit,
  text,
  children,
}: {
  readonly name: Child;
  readonly used: number;
  /** Null: there is none. */
  readonly limit: number | null;
  readonly text: (amount: number) => string;
  /** What happens at the limit. */
  readonly children?: Child;
}): JSX.Element {
  const part = limit === null ? null : used / limit;
  return (
    <div class="quota">
      <p class="line">
        <strong>{name}</strong>
        {limit === null || part === null ? (
          <span>{text(used)}</span>
        ) : (
          <span>
            {text(used)} <span class="soft">of {text(limit)}</span> · {percentText(part)}
          </span>
        )}
      </p>
      {part !== null && <Bar part={part} tone={toneOf(part)} />}
      {children && <p class="soft">{children}</p>}
    </div>
  );
}

function toneOf(part: number): 'part' | 'near' | 'full' {
  if (part >= 1) return 'full';
  return part >= NEAR ? 'near' : 'part';
}

/** Never shows `0 %` for a used limit, nor `100 %` before it is full. */
function percentText(part: number): string {
  if (part > 0 && part < 0.01) return '< 1 %';
  return `${Math.floor(part * 100)} %`;
}
