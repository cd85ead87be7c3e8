import { browsersPage } from './pages/people/browsers.tsx';
import { channelsPage } from './pages/people/channels.tsx';
import { diskPage } from './pages/disk/page.tsx';
import { eventsPage } from './pages/events/events.tsx';
import { keysPage } from './pages/keys/keys.tsx';
import { ledgerPage } from './pages/ledger/ledger.tsx';
import { mailPage } from './pages/mail/page.tsx';
import { membersPage } from './pages/people/members.tsx';
import { outboxPage } from './pages/outbox/page.tsx';
import { overviewPage } from './pages/overview/overview.tsx';
import { policyPage } from './pages/policy/policy.tsx';
import { requestsPage } from './pages/requests/requests.tsx';
import { routesPage } from './pages/routes/routes.tsx';
import { sessionsPage } from './pages/keys/sessions.tsx';
import { settingsPage } from './pages/project/settings.tsx';
import { sourcesPage } from './pages/sources/sources.tsx';
import { usagePage } from './pages/project/usage.tsx';
import type { UiPage } from './page-context.ts';

/** All pages, in navigation order: the first one of a group opens from the first row. */
export const UI_PAGES: readonly UiPage[] = [
  overviewPage,
  requestsPage,
  eventsPage,
  diskPage,
  mailPage,
  outboxPage,
  settingsPage,
  sourcesPage,
  routesPage,
  membersPage,
  channelsPage,
  browsersPage,
  policyPage,
  keysPage,
  sessionsPage,
  ledgerPage,
  usagePage,
];
