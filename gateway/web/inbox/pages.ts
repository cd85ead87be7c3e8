import { browsersPage } from './pages/browsers.tsx';
import { channelsPage } from './pages/channels.tsx';
import { diskPage } from './pages/disk/page.tsx';
import { eventsPage } from './pages/events.tsx';
import { keysPage } from './pages/keys.tsx';
import { ledgerPage } from './pages/ledger.tsx';
import { mailPage } from './pages/mail/page.tsx';
import { membersPage } from './pages/members.tsx';
import { outboxPage } from './pages/outbox/page.tsx';
import { overviewPage } from './pages/overview.tsx';
import { policyPage } from './pages/policy.tsx';
import { requestsPage } from './pages/requests.tsx';
import { routesPage } from './pages/routes.tsx';
import { sessionsPage } from './pages/sessions.tsx';
import { settingsPage } from './pages/settings.tsx';
import { sourcesPage } from './pages/sources.tsx';
import { usagePage } from './pages/usage.tsx';
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
