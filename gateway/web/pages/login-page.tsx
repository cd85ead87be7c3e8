import type { JSX } from 'hono/jsx/jsx-runtime';
import type { LoginState } from '../../store/control/login-state.ts';
import type { LoginClient, LoginView } from '../../auth/login-service.ts';
import { Document } from './document.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { MessagePage } from './message-page.tsx';
import type { TextKind } from './text.ts';
import { lengthOfTime } from '../ui/time.ts';
import { AgentText, Ago, Time } from './request-copy.tsx';

interface PageResult {
  readonly login: LoginView;
  readonly csrf: string;
  readonly problem: string | null;
}

/**
 * Asks the reader of a mail address for the code that their terminal shows. The page doesn't show it: typing it takes
 * somebody who sees the terminal, and no scanner that presses buttons does.
 */
export function LoginPage({ login, csrf, problem }: PageResult): JSX.Element {
  const { state, email } = login;
  if (state !== 'waiting') return <LoginEndPage state={state} login={login} />;
  return (
    <Document title="Confirm sign-in" project={null}>
      <div>
        <h1>Are you signing in?</h1>
        <p class="lead">
          Someone wants to sign in as <AgentText text={email} reading="exact" />.
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
      <section class="card stack" aria-label="The sign-in">
        <CodeForm csrf={csrf} />
        <form method="post">
          <input type="hidden" name="csrf" value={csrf} />
          <button class="btn no" name="verb" value="deny">
            This was not me
          </button>
        </form>
      </section>
      <section class="card stack" aria-labelledby="from">
        <h2 id="from">Where it comes from</h2>
        <Begun login={login} />
      </section>
    </Document>
  );
}

function CodeForm({ csrf }: Pick<PageResult, 'csrf'>): JSX.Element {
  return (
    <form method="post" class="stack">
      <input type="hidden" name="csrf" value={csrf} />
      <div>
        <label for="code">Type the code that your terminal shows</label>
        <input
          id="code"
          name="code"
          class="usercode"
          required
          maxlength={40}
          placeholder="WORD-WORD-12"
          autocomplete="off"
          autocapitalize="characters"
          autocorrect="off"
          spellcheck={false}
          enterkeyhint="go"
          aria-describedby="code-hint"
        />
        <p id="code-hint" class="soft">
          Small letters and spaces are fine. Never type a code that somebody sent you: they would be
          signed in as you.
        </p>
      </div>
      <button class="btn yes" name="verb" value="confirm">
        Confirm
      </button>
    </form>
  );
}

/** What we know about who started the sign-in. A program claims all of it except the address and the time. */
function Begun({ login }: Pick<PageResult, 'login'>): JSX.Element {
  const { client, createdAt, expiresAt, now } = login;
  return (
    <>
      <dl class="facts">
        <Fact name="Program" text={programOf(client)} />
        <Fact name="Computer" text={client.host} />
        <Fact name="Address" text={client.address} reading="exact" />
        <Fact name="Browser" text={client.userAgent} />
        <dt>Started</dt>
        <dd>
          <Ago at={createdAt} now={now} />
        </dd>
        <dt>Expires</dt>
        <dd>
          in {lengthOfTime(expiresAt - now)}, at <Time at={expiresAt} now={now} />
        </dd>
      </dl>
      <p class="soft">The program reported its own name, computer and browser.</p>
    </>
  );
}

interface FactProps {
  readonly name: string;
  readonly text: string | null;
  readonly reading?: TextKind;
}

function Fact({ name, text, reading = 'line' }: FactProps): JSX.Element | null {
  if (text === null) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <AgentText text={text} reading={reading} />
      </dd>
    </>
  );
}

function programOf({ name, version }: LoginClient): string | null {
  const parts = [name, version].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

interface EndWords {
  readonly heading: string;
  readonly tone: string;
  readonly icon: IconName;
  readonly meaning: string;
}

const ENDS: Readonly<Record<Exclude<LoginState, 'waiting'>, EndWords>> = {
  confirmed: {
    heading: 'Signed in',
    tone: ' good',
    icon: 'yes',
    meaning: 'Your terminal continues. You can close this page.',
  },
  used: {
    heading: 'Signed in',
    tone: ' good',
    icon: 'yes',
    meaning: 'This link has been used and no longer works. You can close this page.',
  },
  denied: {
    heading: 'No one was signed in',
    tone: '',
    icon: 'no',
    meaning:
      'You refused this sign-in, so nobody can confirm it any more. The person who typed your address learned nothing from it.',
  },
  expired: {
    heading: 'This sign-in has expired',
    tone: '',
    icon: 'time',
    meaning:
      'Nobody was signed in. Start again in your terminal and use the link in the new email.',
  },
};

const WRONG_CODES: EndWords = {
  ...ENDS.denied,
  meaning:
    'The code was wrong twice, so nobody can use this link any more. Start again in your terminal, and type the new code there on the page of the new email.',
};

function LoginEndPage({
  state,
  login,
}: Pick<PageResult, 'login'> & { readonly state: Exclude<LoginState, 'waiting'> }): JSX.Element {
  const { heading, tone, icon, meaning } =
    state === 'denied' && login.codesLeft <= 0 ? WRONG_CODES : ENDS[state];
  return (
    <Document title={heading} project={null}>
      <div class={`end${tone}`}>
        <Icon name={icon} />
        <div>
          <h1>{heading}</h1>
          <p>{meaning}</p>
        </div>
      </div>
      <p class="soft">
        Sign-in <span class="exact">{login.userCode}</span> of{' '}
        <AgentText text={login.email} reading="exact" />
      </p>
    </Document>
  );
}

/** For both an unknown and an expired link; we don't reveal which. */
export function DeadLoginPage(): JSX.Element {
  return (
    <MessagePage heading="This link doesn’t work" icon="broken">
      <p>It may be incomplete or no longer valid. Opening it changed nothing.</p>
      <p>Start again in your terminal and use the link in the new email.</p>
    </MessagePage>
  );
}
