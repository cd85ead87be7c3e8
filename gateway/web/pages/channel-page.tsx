import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ChannelView } from '../../approvals/approvals.ts';
import { Document } from './document.tsx';
import { Icon } from '../ui/icons.tsx';
import { AgentText } from './request-copy.tsx';

interface PageResult {
  readonly channel: ChannelView;
  readonly csrf: string;
  readonly problem: string | null;
}

/** Asks the reader of a mail address whether they want requests there, and shows the progress. */
export function ChannelPage({ channel, csrf, problem }: PageResult): JSX.Element {
  if (channel.status !== 'added') return <Confirmed channel={channel} />;
  return (
    <Document title="Confirm your address" project={channel.project}>
      <div>
        <h1>Confirm your address?</h1>
        <p class="lead">
          Someone wants to ask you by email when this project’s agents need a person.
        </p>
      </div>
      {problem !== null && (
        <div class="note warn" role="alert">
          <Icon name="warn" />
          <p>
            <strong>Nothing was confirmed.</strong> {problem}
          </p>
        </div>
      )}
      <section class="card stack" aria-label="Your address">
        <ChannelFacts channel={channel} />
        <form method="post">
          <input type="hidden" name="csrf" value={csrf} />
          <button class="btn yes">Confirm this address</button>
        </form>
        <p class="soft">
          Do you not know this project? Close this page: without your confirmation nothing more is
          sent to you.
        </p>
      </section>
    </Document>
  );
}

function Confirmed({ channel }: Pick<PageResult, 'channel'>): JSX.Element {
  const active = channel.status === 'active';
  return (
    <Document title="Address confirmed" project={channel.project}>
      <div class="end good">
        <Icon name="yes" />
        <div>
          <h1>Address confirmed</h1>
          <p>
            {active
              ? 'We ask you at this address when a decision is needed.'
              : 'Next, the project owner approves you. Then we ask you at this address.'}
          </p>
        </div>
      </div>
      <section class="card" aria-label="Your address">
        <ChannelFacts channel={channel} />
      </section>
      <p class="soft">You can close this page.</p>
    </Document>
  );
}

function ChannelFacts({ channel }: Pick<PageResult, 'channel'>): JSX.Element {
  return (
    <dl class="facts">
      <dt>Address</dt>
      <dd>
        <AgentText text={channel.address} reading="exact" />
      </dd>
      <dt>Known as</dt>
      <dd>
        <AgentText text={channel.label} reading="line" />
      </dd>
      <dt>Project</dt>
      <dd>
        <AgentText text={channel.project.name} reading="line" />
      </dd>
    </dl>
  );
}
