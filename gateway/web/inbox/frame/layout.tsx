import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { HeldNote } from '../../pages/held-note.tsx';
import { Icon } from '../../ui/icons.tsx';
import { plainLine } from '../../pages/text.ts';
import { AgentText } from '../../pages/request-copy.tsx';
import type { Access } from '../session/access.ts';
import { INBOX_SCRIPT_VERSION } from '../../browser/scripts.ts';
import { STYLE_VERSION } from './style.ts';
import { Nav, SettingsNav } from './navigation.tsx';
import { Problem } from '../../ui/parts.tsx';
import type { UiPage } from '../page-context.ts';

/** The values that a page needs to load its style and script. */
export interface PageFrame {
  /** The path of the web inbox, such as `/ui`. */
  readonly root: string;
  /** The browser only accepts scripts and styles with this nonce. */
  readonly nonce: string;
  /** The browser shows pictures whose URLs start with this; none if missing. */
  readonly picturesFrom?: string;
  /** The only picture of our own, whole. */
  readonly iconUrl: string;
}

interface HtmlProps {
  readonly frame: PageFrame;
  readonly title: string;
  /** Where the browser goes at once. It isn't the answer to a form, so no policy for forms applies to it. */
  readonly goesTo?: string;
  readonly children?: Child;
}

function Head({ frame, title, goesTo }: Omit<HtmlProps, 'children'>): JSX.Element {
  const { root, nonce, iconUrl } = frame;
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex, nofollow" />
      <meta name="referrer" content="no-referrer" />
      <meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no" />
      {goesTo !== undefined && <meta http-equiv="refresh" content={`0; url=${goesTo}`} />}
      <title>{title}</title>
      <link rel="icon" href={iconUrl} type="image/png" sizes="192x192" />
      <link rel="apple-touch-icon" href={iconUrl} />
      <link rel="manifest" href={`${root}/manifest.webmanifest`} />
      <link rel="stylesheet" href={`${root}/style.css?v=${STYLE_VERSION}`} nonce={nonce} />
      <script defer src={`${root}/script.js?v=${INBOX_SCRIPT_VERSION}`} nonce={nonce} />
    </head>
  );
}

/** A page outside any project, for signing in or for a refusal. */
export function PlainPage({ frame, title, goesTo, children }: HtmlProps): JSX.Element {
  return (
    <html lang="en">
      <Head frame={frame} title={`${title} · svc`} {...(goesTo !== undefined && { goesTo })} />
      <body>
        <header class="bar plain">
          <p class="brand">
            <Icon name="brand" /> svc
          </p>
        </header>
        <main id="page" class="narrow" tabindex={-1}>
          {children}
        </main>
        <HeldNote />
      </body>
    </html>
  );
}

interface LayoutProps {
  readonly frame: PageFrame;
  readonly access: Access;
  /** The pages that this session may open. */
  readonly pages: readonly UiPage[];
  readonly current: UiPage;
  readonly title: string;
  /** The newest commit when the page was read. */
  readonly position: number;
  readonly wide: boolean;
  /** Why a form was refused; null if none was, or the page says so itself. */
  readonly problem: string | null;
  /** How many requests are pending: `3`, or `20+`; null if this session can't see requests. */
  readonly waiting: string | null;
  readonly csrf: string;
  readonly children?: Child;
}

/** A page of a project. The script refreshes only `#nav` and `#page`. */
export function Layout(framed: LayoutProps): JSX.Element {
  const { frame, access, current, title, position, wide, problem, waiting, children } = framed;
  const { info } = access.project;
  const navigation = { base: `${frame.root}/p/${info.slug}`, pages: framed.pages, current };
  const count = waiting === null || waiting === '0' ? '' : `(${waiting}) `;
  return (
    <html lang="en">
      <Head frame={frame} title={`${count}${title} · ${plainLine(info.name)}`} />
      <body
        data-live={`${frame.root}/live?project=${info.slug}&seen=${position}`}
        data-topics={current.topics.join(' ')}
        {...(current.paceMs !== undefined && { 'data-pace': current.paceMs })}
      >
        <a class="skip" href="#page">
          Skip to content
        </a>
        <Bar {...framed} />
        <Nav {...navigation} waiting={waiting} />
        {problem !== null && (
          <div class="refused">
            <Problem text={problem} />
          </div>
        )}
        <div class={current.setting && 'sided'}>
          {current.setting && <SettingsNav {...navigation} />}
          <main id="page" class={wide ? 'two' : ''} tabindex={-1}>
            {children}
          </main>
        </div>
        <div class="notices">
          <p id="connection" class="stale" role="status" />
          <p id="stale" class="stale" role="status" />
          <HeldNote />
        </div>
        <Help />
      </body>
    </html>
  );
}

function Bar({ frame, access, csrf }: LayoutProps): JSX.Element {
  const { info } = access.project;
  return (
    <header class="bar">
      <a class="brand" href={frame.root}>
        <Icon name="brand" />
        <span class="project">
          <AgentText text={info.name} reading="line" />
          {info.slug !== info.name && (
            <>
              {' '}
              <AgentText text={info.slug} reading="exact" class="mono soft" />
            </>
          )}
        </span>
      </a>
      <form method="post" action={`${frame.root}/sign-out`}>
        <input type="hidden" name="csrf" value={csrf} />
        <span class="who soft">
          <AgentText text={access.name} reading="line" />
        </span>
        <button class="link">Sign out</button>
      </form>
    </header>
  );
}

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['j  k', 'next, previous'],
  ['Enter', 'open'],
  ['/', 'search'],
  ['x', 'select'],
  ['u', 'back to the list'],
  ['g  s', 'go to Settings; each page in the first row goes by its first letter'],
  ['a', 'go to Approve; press Enter to approve'],
  ['d', 'go to Deny; press Enter to deny'],
  ['?', 'this help'],
];

/** Only the script opens this dialog, because without the script the keys don't work. */
function Help(): JSX.Element {
  return (
    <dialog id="help" aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="facts">
        {KEYS.map(([key, what]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <form method="dialog">
        <button class="btn small">Close</button>
      </form>
    </dialog>
  );
}
