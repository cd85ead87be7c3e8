import type { JSX } from 'hono/jsx/jsx-runtime';
import { ROLE_RULES } from '../../../shared/rules/roles.ts';
import type { InvitationView } from '../../lib/approvals.ts';
import { AgentText } from '../pages/request-copy.tsx';
import { PlainPage, type PageFrame } from './layout.tsx';
import { Fact } from './parts.tsx';

interface JoinProps {
  readonly frame: PageFrame;
  readonly csrf: string;
  readonly invitation: InvitationView;
}

/** The page behind the link of an invitation. */
export function JoinPage({ frame, csrf, invitation }: JoinProps): JSX.Element {
  const { project, role, address, inviter } = invitation;
  return (
    <PlainPage frame={frame} title="Join a project">
      <div>
        <h1>Join this project?</h1>
        <p class="lead">You are invited to share a project whose agents work with svc.</p>
      </div>
      <section class="card stack" aria-label="The invitation">
        <dl class="facts">
          <Fact name="Project">
            <AgentText text={project.name} reading="line" />{' '}
            <AgentText text={project.slug} reading="exact" class="mono soft" />
          </Fact>
          <Fact name="Your role">
            {role}: {ROLE_RULES[role].summary}
          </Fact>
          <Fact name="Invited by">
            <AgentText text={inviter} reading="line" />
          </Fact>
          <Fact name="Your address">
            <AgentText text={address} reading="exact" class="mono" />
          </Fact>
        </dl>
        <form method="post">
          <input type="hidden" name="csrf" value={csrf} />
          <button class="btn yes">Accept</button>
        </form>
        <p class="soft">
          If this address is new here, you’re signed in in this browser for 12 hours, and whoever is
          signed in here is signed out. Otherwise sign in as usual. Do you not know this project?
          Close this page.
        </p>
      </section>
    </PlainPage>
  );
}
