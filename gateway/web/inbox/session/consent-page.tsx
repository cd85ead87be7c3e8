import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ProjectInfo } from '../../../../shared/kernel/context.ts';
import type { Scope } from '../../../../shared/lib/scopes.ts';
import type { AuthorizationRequest } from '../../../auth/oauth/authorization.ts';
import { isLoopback } from '../../../auth/oauth/redirect-uri.ts';
import { Icon } from '../../ui/icons.tsx';
import { CautionNote } from '../../pages/request-copy.tsx';
import { plainLine } from '../../pages/text.ts';
import { CheckBoxes, Choice } from '../../ui/fields.tsx';
import { SCOPE_LINES } from '../pages/keys/key-queries.ts';
import { FactsCard, Said, type FactRow } from '../../ui/detail.tsx';
import { exact, line } from '../../ui/text.tsx';
import { PlainPage, type PageFrame } from '../frame/layout.tsx';

/** How long an app may have access, in days. */
export const LIFETIMES = [
  ['1', 'in a day'],
  ['7', 'in a week'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
] as const;
const USUAL_LIFETIME = '30';

interface ConsentProps {
  readonly frame: PageFrame;
  readonly csrf: string;
  readonly asked: AuthorizationRequest;
  readonly host: string;
  /** Who is signed in. */
  readonly address: string;
  readonly projects: readonly ProjectInfo[];
  readonly offered: readonly Scope[];
  readonly problem: string | null;
  readonly keysAt: string | null;
  readonly chosen: {
    readonly project: string | undefined;
    readonly scopes: readonly Scope[];
    readonly lifetime: string | undefined;
  };
}

/** Asks a person whether an app may use a project, and for what. */
export function ConsentPage(props: ConsentProps): JSX.Element {
  const { frame, asked, host, problem, keysAt } = props;
  const { name } = asked.client;
  return (
    <PlainPage frame={frame} title="Connect an app">
      <div>
        <h1>Let this app use your project?</h1>
        <p class="lead">Allow it only if you’ve just started this in the app.</p>
      </div>
      {problem !== null && (
        <div class="note warn" role="alert">
          <Icon name="warn" />
          <div>
            <p>
              <strong>Nothing was allowed.</strong> {problem}
            </p>
            {keysAt !== null && (
              <p>
                <a href={keysAt}>Keys</a>
              </p>
            )}
          </div>
        </div>
      )}
      <CautionNote texts={[[name ?? '', 'line']]} writer="the app" />
      <Said by="The app says that its name is">
        <p class="summary">{line(name ?? host)}</p>
      </Said>
      <FactsCard title="What we know about it" facts={factsOf(asked)} />
      <ConsentForm {...props} />
      <p class="soft">
        The app can’t decide requests for you. To end its access, revoke its key on the Keys page.
      </p>
    </PlainPage>
  );
}

function factsOf({
  client,
  redirectUri,
  resource,
}: AuthorizationRequest): readonly (FactRow | false)[] {
  const back = new URL(redirectUri);
  return [
    client.host !== null && ['Its website', exact(client.host)],
    [
      'Sends you to',
      <>
        {exact(back.host)}
        {isLoopback(back) && ', a program on this computer'}
      </>,
    ],
    [
      'Reaches',
      <>
        {exact(resource.url)}
        {resource.isWhole ? ', REST and the web inbox' : ', and nothing else'}
      </>,
    ],
  ];
}

function ConsentForm({ csrf, address, projects, offered, chosen }: ConsentProps): JSX.Element {
  const [first, another] = projects;
  return (
    <form method="post" class="card stack">
      <input type="hidden" name="csrf" value={csrf} />
      <p>Signed in as {exact(address)}</p>
      {another === undefined ? (
        <>
          <input type="hidden" name="project" value={first?.slug} />
          <p>Project: {line(first?.name ?? '')}</p>
        </>
      ) : (
        <Choice
          name="project"
          label="Project"
          value={chosen.project ?? first?.slug}
          choices={projects.map(({ slug, name }) => [slug, `${plainLine(name)} (${slug})`])}
        />
      )}
      <CheckBoxes
        name="scopes"
        label="What it may do"
        values={chosen.scopes}
        choices={offered.map((scope) => [scope, SCOPE_LINES[scope]])}
      />
      <Choice
        name="lifetime"
        label="The access ends"
        value={chosen.lifetime ?? USUAL_LIFETIME}
        choices={LIFETIMES}
      />
      <button class="btn yes" name="verb" value="allow">
        Allow
      </button>
      <button class="btn no" name="verb" value="deny">
        Deny
      </button>
    </form>
  );
}

/** Leads back to the app. */
export function LeavePage({
  frame,
  heading,
  host,
  to,
}: {
  readonly frame: PageFrame;
  readonly heading: string;
  readonly host: string;
  readonly to: string;
}): JSX.Element {
  return (
    <PlainPage frame={frame} title={heading} goesTo={to}>
      <h1>{heading}</h1>
      <p>You’re going back to {exact(host)}. You can close this page.</p>
      <a class="btn" href={to}>
        Go back to the app
      </a>
    </PlainPage>
  );
}

/** Says what's wrong with an app's request, and where the app wants the person to go. */
export function RefusedPage({
  frame,
  reason,
  to,
}: {
  readonly frame: PageFrame;
  readonly reason: string;
  readonly to: string;
}): JSX.Element {
  return (
    <PlainPage frame={frame} title="This app can’t be connected">
      <h1>This app can’t be connected</h1>
      <p>Its request for access is wrong: {line(reason)}</p>
      <p>The app is at {exact(new URL(to).host)}. Go there only if you know it.</p>
      <a class="btn" href={to}>
        Go back to the app
      </a>
    </PlainPage>
  );
}

/** For a person whom another site sent here. */
export function ContinuePage({
  frame,
  to,
}: {
  readonly frame: PageFrame;
  readonly to: string;
}): JSX.Element {
  return (
    <PlainPage frame={frame} title="Connect an app">
      <div>
        <h1>Connect an app?</h1>
        <p class="lead">
          Another website sent you here to give an app access to a project of yours.
        </p>
      </div>
      <p>
        Did you just start this in the app? Then continue: next you see which app it is, and decide
        what it gets. Otherwise close this page.
      </p>
      <a class="btn" href={to} data-hold>
        Continue
      </a>
    </PlainPage>
  );
}
