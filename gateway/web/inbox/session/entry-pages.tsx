import type { JSX } from 'hono/jsx/jsx-runtime';
import type { ProjectInfo } from '../../../../shared/kernel/context.ts';
import { Icon } from '../../ui/icons.tsx';
import { plainText } from '../../pages/text.ts';
import { exact, line } from '../../ui/text.tsx';
import { PlainPage, type PageFrame } from '../frame/layout.tsx';
import { Problem } from '../../ui/parts.tsx';

interface SignInProps {
  readonly frame: PageFrame;
  readonly csrf: string;
  readonly problem: string | null;
  readonly email: string;
  /** True right after signing out. */
  readonly isOut: boolean;
  /** True right after joining a project with an account that was there before. */
  readonly isJoined: boolean;
  /** True if the person signs in to connect an app. */
  readonly isConnecting: boolean;
}

/** The sign-in page for visitors without a session. */
export function SignInPage(shown: SignInProps): JSX.Element {
  const { frame, csrf, problem, email, isOut, isJoined, isConnecting } = shown;
  const toOpen = isConnecting ? 'Sign in to connect an app' : 'Open your inbox';
  const heading = isJoined ? 'You joined. Sign in to open the project' : toOpen;
  return (
    <PlainPage frame={frame} title="Sign in">
      <div>
        <h1>{isOut ? 'You are signed out' : heading}</h1>
        <p class="lead">
          {isConnecting
            ? 'Next, you see which app asks for access, and decide what it gets.'
            : 'See what your agents ask and what happens in your project.'}
        </p>
      </div>
      <Problem text={problem} />
      <section class="card stack" aria-labelledby="by-mail">
        <h2 id="by-mail">Sign in by email</h2>
        <form method="post" action={`${frame.root}/sign-in`} class="stack">
          <input type="hidden" name="csrf" value={csrf} />
          <div>
            <label for="email">Your email address</label>
            <input
              id="email"
              name="email"
              type="email"
              autocomplete="email"
              required
              maxlength={254}
              value={plainText(email)}
            />
          </div>
          <button class="btn yes">Email me a link</button>
        </form>
      </section>
      {!isConnecting && (
        <section class="card stack" aria-labelledby="by-key">
          <h2 id="by-key">Sign in with a machine’s key</h2>
          <p>
            Run <code class="mono">svc open</code> on a machine that is signed in. You’ll see what
            its key can see, but a key can’t decide anything.
          </p>
        </section>
      )}
    </PlainPage>
  );
}

interface MailedProps extends Pick<SignInProps, 'frame' | 'isConnecting'> {
  /** The command that shows the email on this server, which keeps it; null if it's sent. */
  readonly readBy: string | null;
}

/** The same for every address, so that it doesn't reveal who is an owner. */
export function MailedPage({ frame, isConnecting, readBy }: MailedProps): JSX.Element {
  return (
    <PlainPage frame={frame} title="Check your email">
      <div class="end good">
        <Icon name="yes" />
        <div>
          <h1>Check your email</h1>
          <p>
            {readBy === null ? 'A link is on its way to this address.' : 'A link is in the email.'}{' '}
            It works for 15 minutes, once.
          </p>
          {readBy !== null && (
            <p>
              No mail server is set, so the email is kept on this server, where its operator reads
              it with <code class="mono">{readBy}</code>
            </p>
          )}
          {isConnecting && <p>Open the link in this browser to continue with the app.</p>}
        </div>
      </div>
    </PlainPage>
  );
}

interface EnterProps {
  readonly frame: PageFrame;
  readonly csrf: string;
  readonly projects: readonly ProjectInfo[];
  readonly kind: 'key' | 'owner';
  readonly problem: string | null;
  /** The browser has a session for someone else, which will end. */
  readonly isOther: boolean;
  /**
   * True if a program on this machine opened the link or a person typed it; then the script presses the button. Another
   * site that links here must not sign its visitors in to its own project.
   */
  readonly isOwnDoing: boolean;
}

/** The page behind a link that starts a session. Opening it doesn't use the link up; its button does. */
export function EnterPage(shown: EnterProps): JSX.Element {
  const { frame, csrf, projects, kind, problem, isOther, isOwnDoing } = shown;
  return (
    <PlainPage frame={frame} title="Open the inbox">
      <div>
        <h1>Open the inbox?</h1>
        <p class="lead">
          {kind === 'key'
            ? 'You’ll see what that machine’s key can see, for 12 hours.'
            : 'This signs you in by email in this browser for 12 hours.'}
          {isOther && ' If someone else is signed in here, they’re signed out.'}
        </p>
      </div>
      <Problem text={problem} />
      {projects.length > 0 && (
        <ul>
          {projects.map(({ name, slug }) => (
            <li>
              {line(name)} {exact(slug, 'mono soft')}
            </li>
          ))}
        </ul>
      )}
      <form method="post" {...(isOwnDoing && { 'data-send': true })}>
        <input type="hidden" name="csrf" value={csrf} />
        <div class="stack">
          <button class="btn yes">Open the inbox</button>
          {kind === 'owner' && (
            <button class="btn no" name="act" value="deny">
              I didn’t ask for this
            </button>
          )}
        </div>
      </form>
    </PlainPage>
  );
}

/** For an owner of several projects, or of none. */
export function ProjectsPage({
  frame,
  csrf,
  projects,
}: Pick<EnterProps, 'frame' | 'csrf' | 'projects'>): JSX.Element {
  return (
    <PlainPage frame={frame} title="Projects">
      <h1>{projects.length === 0 ? 'No projects' : 'Which project?'}</h1>
      {projects.length === 0 ? (
        <p>You aren’t a member of a project here.</p>
      ) : (
        <ul class="rows">
          {projects.map(({ name, slug }) => (
            <li>
              <a href={`${frame.root}/p/${slug}`} data-row>
                {line(name, 'what')}
                {exact(slug, 'mono soft')}
              </a>
            </li>
          ))}
        </ul>
      )}
      <form method="post" action={`${frame.root}/sign-out`}>
        <input type="hidden" name="csrf" value={csrf} />
        <button class="btn">Sign out</button>
      </form>
    </PlainPage>
  );
}
