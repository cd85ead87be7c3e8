import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import type { OpenedRequest } from '../../approvals/approvals.ts';
import { moreApprovals, moreNeeded } from '../../approvals/quorum.ts';
import { Document } from './document.tsx';
import { WRITTEN_MAX_CHARS, type Form } from './form.ts';
import { Icon } from '../ui/icons.tsx';
import { QuorumLine } from './quorum.tsx';
import { About, ExpiryLine, Subject, ThreadLine } from './subject.tsx';
import { AgentText, Time } from './request-copy.tsx';
import { KINDS } from './copy.ts';

interface RequestPageProps {
  readonly opened: OpenedRequest;
  readonly csrf: string;
  /** Why the last submission decided nothing. */
  readonly problem: string | null;
  /** This channel's approval was counted just now, and more people must approve. */
  readonly recorded?: boolean;
  /** The last submission, so that nobody has to write it again. */
  readonly form: Form;
  /** The page of the agent's key, if the visitor may open it. */
  readonly keyHref?: string | null;
}

/** A request that waits for a decision. */
export function RequestPage(asked: RequestPageProps): JSX.Element {
  const { request } = asked.opened;
  return (
    <Document title={KINDS[request.kind].noun} project={request.project} wide>
      <RequestContent {...asked} />
    </Document>
  );
}

/** The same content for use within another page: the request, and the decision forms. */
export function RequestContent(asked: RequestPageProps): JSX.Element {
  const { request } = asked.opened;
  const { heading, lead } = headOf(asked);
  return (
    <>
      <div class="stack">
        <div>
          <h1>{heading}</h1>
          <p class="lead">{lead}</p>
        </div>
        <Problem problem={asked.problem} />
        <Subject request={request} />
      </div>
      <section class="act card stack" aria-labelledby="decide">
        <div>
          <h2 id="decide">{request.kind === 'question' ? 'Your answer' : 'Your decision'}</h2>
          <QuorumLine opened={asked.opened} />
          <ExpiryLine opened={asked.opened} />
          <ThreadLine request={request} />
        </div>
        {request.kind === 'question' ? <Answers {...asked} /> : <Decisions {...asked} />}
        <NeedsContext {...asked} />
        <Mute {...asked} />
        <Stop {...asked} />
      </section>
      <About opened={asked.opened} keyHref={asked.keyHref ?? null} />
    </>
  );
}

/** A person who approved is told what is still missing. */
function headOf({ opened, recorded = false }: RequestPageProps): { heading: Child; lead: string } {
  const { request, votedAt, now } = opened;
  if (votedAt === null) return KINDS[request.kind];
  if (recorded) return { heading: 'Recorded', lead: moreNeeded(request.approvals) };
  return {
    heading: (
      <>
        You approved this at <Time at={votedAt} now={now} />
      </>
    ),
    lead: `It needs ${moreApprovals(request.approvals)}.`,
  };
}

/** Comes first, and screen readers announce it at once. */
function Problem({ problem }: Pick<RequestPageProps, 'problem'>): JSX.Element | null {
  if (problem === null) return null;
  return (
    <div class="note warn" role="alert">
      <Icon name="warn" />
      <p>
        <strong>Nothing was decided.</strong> {problem}
      </p>
    </div>
  );
}

function Decisions({ opened, csrf, form }: RequestPageProps): JSX.Element {
  const { kind, options, risk } = opened.request;
  const isChannel = kind === 'channel';
  const kept = form.verb === 'needs_context' ? undefined : form.comment;
  const asksAgain = risk === 'high';
  const hasVoted = opened.votedAt !== null;
  return (
    <form method="post" class="stack">
      <input type="hidden" name="csrf" value={csrf} />
      <details open={kept !== undefined}>
        <summary>Add a comment</summary>
        <label for="comment">The agent reads it. You can leave it empty.</label>
        <Area id="comment" name="comment" value={kept} />
      </details>
      <div class={hasVoted ? undefined : 'pair'}>
        <button class="btn no" name="verb" value="deny">
          Deny
          {hasVoted && <small>ends the request</small>}
        </button>
        {!hasVoted && (
          <button class="btn yes" name="verb" value="approve">
            Approve
            {asksAgain && <small>asks once more</small>}
          </button>
        )}
      </div>
      <More request={opened.request} />
      {options.length > 0 && (
        <fieldset class={isChannel ? 'stack' : undefined}>
          <legend>
            {isChannel ? 'Or approve, and say whose it is' : 'Or approve only one of these'}
          </legend>
          {isChannel && (
            <p class="soft">
              Where several people must approve, all channels of one person count once, and so do
              all chats whose owner nobody has named.
            </p>
          )}
          {options.map((option, index) => (
            <Option
              says={isChannel ? 'Approve:' : 'Approve, but only:'}
              option={option}
              index={index}
            />
          ))}
        </fieldset>
      )}
    </form>
  );
}

/** Approvals of more than this call. */
function More({ request: { like, suggestedRule } }: Pick<OpenedRequest, 'request'>): JSX.Element {
  return (
    <>
      {like !== null && (
        <button class="btn way" name="verb" value="approve_hour">
          <small>Approve, and for an hour in this session also:</small>
          <AgentText text={like} reading="line" />
        </button>
      )}
      {suggestedRule !== null && (
        <button class="btn way" name="verb" value="approve_propose">
          <small>Approve, and propose this rule, on which a person then decides:</small>
          <AgentText text={suggestedRule} reading="code" />
        </button>
      )}
    </>
  );
}

function Answers({ opened, csrf, form }: RequestPageProps): JSX.Element {
  const { options } = opened.request;
  return (
    <>
      {options.length > 0 && (
        <form method="post">
          <input type="hidden" name="csrf" value={csrf} />
          <fieldset>
            <legend>Choose an answer</legend>
            {options.map((option, index) => (
              <Option says="Answer:" option={option} index={index} />
            ))}
          </fieldset>
        </form>
      )}
      <form method="post" class="stack">
        <input type="hidden" name="csrf" value={csrf} />
        <div>
          <label for="text">
            {options.length > 0 ? 'Or answer in your own words' : 'In your own words'}
          </label>
          <Area id="text" name="text" value={form.text} required />
        </div>
        <button class="btn yes" name="verb" value="answer">
          Send this answer
        </button>
      </form>
    </>
  );
}

/** An option is the agent's text and could say `Deny`, so the button also says in our words what it does. */
function Option({
  says,
  option,
  index,
}: {
  readonly says: string;
  readonly option: string;
  readonly index: number;
}): JSX.Element {
  return (
    <button class="btn way" name="index" value={index.toString()}>
      <small>{says}</small>
      <AgentText text={option} reading="line" />
    </button>
  );
}

function NeedsContext({ opened, csrf, form }: RequestPageProps): JSX.Element {
  const kept = form.verb === 'needs_context' ? (form.comment ?? '') : undefined;
  const isQuestion = opened.request.kind === 'question';
  return (
    <details class="more" open={kept !== undefined}>
      <summary>Ask for more context</summary>
      <form method="post" class="stack">
        <input type="hidden" name="csrf" value={csrf} />
        <div>
          <label for="missing">
            What is missing? {isQuestion ? 'Nothing is answered' : 'Nothing is approved'}; the agent
            has to ask again.
          </label>
          <Area id="missing" name="comment" value={kept} required />
        </div>
        <button class="btn" name="verb" value="needs_context">
          Ask for more context
        </button>
      </form>
    </details>
  );
}

/** Messages from this key wait for an hour; its requests don't. */
function Mute({ opened, csrf }: RequestPageProps): JSX.Element {
  const { mutedUntil, now, request } = opened;
  const isOn = mutedUntil !== null;
  const key = <AgentText text={request.keyName} reading="line" class="mono" />;
  return (
    <details class="more" open={isOn}>
      <summary>{isOn ? 'This key is muted' : 'Too many messages?'}</summary>
      <form method="post" class="stack">
        <input type="hidden" name="csrf" value={csrf} />
        {isOn ? (
          <p>
            You get no messages from key {key} until <Time at={mutedUntil} now={now} />. Then you
            get one about everything it asked meanwhile.
          </p>
        ) : (
          <p>
            Mute key {key} for an hour. Its requests wait as before, and you get one message about
            all of them at the end. Others aren’t affected.
          </p>
        )}
        <button class="btn" name="verb" value={isOn ? 'unmute' : 'mute'}>
          {isOn ? 'Unmute this key' : 'Mute this key for an hour'}
        </button>
      </form>
    </details>
  );
}

/** Ends what the agent may do: all that its session asks, or, where it named none, its key. */
function Stop({ opened, csrf, keyHref = null }: RequestPageProps): JSX.Element | null {
  const { thread, keyName } = opened.request;
  if (thread === null && keyHref === null) return null;
  return (
    <details class="more">
      <summary>Stop this agent</summary>
      {thread === null ? (
        <>
          <p>First you see what its key made, and what ends with it.</p>
          <a class="btn no" href={`${keyHref ?? ''}?step=revoke`}>
            Revoke its key <AgentText text={keyName} reading="line" class="mono" />
          </a>
        </>
      ) : (
        <form method="post" class="stack">
          <input type="hidden" name="csrf" value={csrf} />
          <p>
            Denies this, and for 24 hours whatever <AgentText text={thread.name} reading="line" />{' '}
            asks, even what the policy approves. What its own settings allow without asking still
            runs: to end the program, close it on its machine.
          </p>
          <button class="btn no" name="verb" value="stop">
            Stop this session
          </button>
        </form>
      )}
    </details>
  );
}

interface AreaProps {
  readonly id: string;
  readonly name: keyof typeof WRITTEN_MAX_CHARS;
  readonly value: string | undefined;
  readonly required?: boolean;
}

function Area({ id, name, value, required = false }: AreaProps): JSX.Element {
  return (
    <textarea
      id={id}
      name={name}
      rows={3}
      maxlength={WRITTEN_MAX_CHARS[name]}
      required={required}
      autocomplete="off"
    >
      {value ?? ''}
    </textarea>
  );
}
