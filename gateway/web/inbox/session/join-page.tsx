import type { JSX } from 'hono/jsx/jsx-runtime';
import { ROLE_RULES } from '../../../../shared/rules/roles.ts';
import type { InvitationView } from '../../../approvals/approvals.ts';
import { Facts } from '../../ui/detail.tsx';
import { exact, line, mono } from '../../ui/text.tsx';
import { PlainPage, type PageFrame } from '../frame/layout.tsx';
import { Problem } from '../../ui/parts.tsx';

interface JoinProps {
  readonly frame: PageFrame;
  readonly csrf: string;
  readonly invitation: InvitationView;
  readonly problem: string | null;
}

/** The page behind the link of an invitation. */
export function JoinPage({ frame, csrf, invitation, problem }: JoinProps): JSX.Element {
  const { project, role, address, inviter } = invitation;
  return (
    <PlainPage frame={frame} title="Join a project">
      <div>
        <h1>Join this project?</h1>
        <p class="lead">You are invited to share a project whose agents work with svc.</p>
      </div>
      <Problem text={problem} />
      <section class="card stack" aria-label="The invitation">
        <Facts
          facts={[
            [
              'Project',
              <>
                {line(project.name)} {exact(project.slug, 'mono soft')}
              </>,
            ],
            ['Your role', `${role}: ${ROLE_RULES[role].summary}`],
            ['Invited by', line(inviter)],
            ['Your address', mono(address)],
          ]}
        />
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
