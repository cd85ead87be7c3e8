import type { Child } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { GROUPS, SECTIONS, type PageGroup, type Section } from './groups.ts';
import type { UiPage } from '../page-context.ts';

interface Navigation {
  /** The URL of the project's pages, without a slash at the end. */
  readonly base: string;
  /** The pages that this session may open. */
  readonly pages: readonly UiPage[];
  readonly current: UiPage;
}

/** The groups of pages, and the pages of the current group if it has several. */
export function Nav({
  waiting,
  ...navigation
}: Navigation & {
  /** How many requests are pending: `3`, or `20+`; null if this session can't see requests. */
  readonly waiting: string | null;
}): JSX.Element {
  const { pages, current } = navigation;
  const groups = (Object.keys(GROUPS) as PageGroup[]).flatMap((group) => {
    const first = pages.find((page) => page.group === group);
    return first ? [{ group, first }] : [];
  });
  const others = pages.filter(({ group }) => group === current.group);
  return (
    <nav id="nav" aria-label="Pages">
      <ul>
        {groups.map(({ group, first }) => (
          <li>
            <PageLink {...navigation} page={first} isPart={group === current.group}>
              {GROUPS[group]}
              {group === 'requests' && waiting !== null && waiting !== '0' && (
                <span class="count">
                  {waiting}
                  <span class="unseen"> waiting</span>
                </span>
              )}
            </PageLink>
          </li>
        ))}
      </ul>
      {others.length > 1 && current.group !== 'settings' && (
        <ul class="second">
          {others.map((page) => (
            <li>
              <PageLink {...navigation} page={page} />
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}

/** The settings that this session may open, by section. */
export function settingsOf(
  pages: readonly UiPage[],
): readonly (readonly [section: Section, pages: readonly UiPage[]])[] {
  return SECTIONS.map(
    (section) => [section, pages.filter(({ setting }) => setting?.section === section)] as const,
  ).filter(([, found]) => found.length > 0);
}

/** The list beside a page of the settings. On a phone, the page Settings takes its place. */
export function SettingsNav(navigation: Navigation): JSX.Element {
  return (
    <nav id="side" aria-label="Settings">
      {settingsOf(navigation.pages).map(([section, pages]) => (
        <>
          <p class="soft">{section}</p>
          <ul>
            {pages.map((page) => (
              <li>
                <PageLink {...navigation} page={page} />
              </li>
            ))}
          </ul>
        </>
      ))}
    </nav>
  );
}

function PageLink({
  base,
  current,
  page,
  isPart = false,
  children = page.title,
}: Navigation & {
  readonly page: UiPage;
  /** Whether the current page is in the group that the link leads to. */
  readonly isPart?: boolean;
  readonly children?: Child;
}): JSX.Element {
  const mark = page.path === current.path ? 'page' : isPart && 'true';
  return (
    <a href={`${base}/${page.path}`} {...(mark && { 'aria-current': mark })}>
      {children}
    </a>
  );
}
