import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { raw } from 'hono/html';
import { HeldNote } from './held-note.tsx';
import { HOLD_SCRIPT } from '../browser/scripts.ts';
import { Icon } from '../ui/icons.tsx';
import { STYLE } from './style.ts';
import { plainLine } from './text.ts';
import { AgentText } from './request-copy.tsx';

interface Frame {
  /** The title of the browser tab, without the project. */
  readonly title: string;
  readonly project: { readonly name: string; readonly slug: string } | null;
  /** Two columns if there is room: the request, and the possible actions. */
  readonly wide?: boolean;
  readonly children?: Child;
}

/** A whole page. Browsers must not turn phone numbers and the like in an agent's text into links. */
export function Document({ title, project, wide = false, children }: Frame): JSX.Element {
  const narrow = wide ? '' : ' narrow';
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="referrer" content="no-referrer" />
        <meta
          name="format-detection"
          content="telephone=no, date=no, address=no, email=no, url=no"
        />
        <title>{project === null ? title : `${title} · ${plainLine(project.name)}`}</title>
        <style>{raw(STYLE)}</style>
        <script>{raw(HOLD_SCRIPT)}</script>
      </head>
      <body>
        <header class={`top${narrow}`}>
          <Icon name="brand" />
          <p>
            {project === null ? (
              'svc'
            ) : (
              <>
                <AgentText text={project.name} reading="line" />{' '}
                <small>
                  project <AgentText text={project.slug} reading="exact" class="mono" />
                </small>
              </>
            )}
          </p>
        </header>
        <main class={wide ? 'two' : 'narrow'}>{children}</main>
        <HeldNote />
      </body>
    </html>
  );
}

/** Renders a page to HTML. */
export async function render(page: JSX.Element): Promise<string> {
  return `<!doctype html>${String(await page)}`;
}
