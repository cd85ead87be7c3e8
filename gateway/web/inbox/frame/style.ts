import { createHash } from 'node:crypto';
import { STYLE } from '../../pages/style.ts';
import { DISK_STYLE } from './styles/disk.ts';
import { EVENTS_STYLE } from './styles/events.ts';
import { FORMS_STYLE } from './styles/forms.ts';
import { FRAME_STYLE } from './styles/frame.ts';
import { LEDGER_STYLE } from './styles/ledger.ts';
import { LISTS_STYLE } from './styles/lists.ts';
import { OVERVIEW_STYLE } from './styles/overview.ts';
import { PARTS_STYLE } from './styles/parts.ts';
import { POLICY_STYLE } from './styles/policy.ts';
import { TABLES_STYLE } from './styles/tables.ts';
import { USAGE_STYLE } from './styles/usage.ts';

/** Styles of the web inbox, on top of those of the decision pages. A later part may override an earlier one. */
const PARTS = [
  FRAME_STYLE,
  PARTS_STYLE,
  LISTS_STYLE,
  FORMS_STYLE,
  TABLES_STYLE,
  POLICY_STYLE,
  LEDGER_STYLE,
  USAGE_STYLE,
  DISK_STYLE,
  EVENTS_STYLE,
  OVERVIEW_STYLE,
];

export const UI_STYLE = STYLE + PARTS.join('');

export const STYLE_VERSION = createHash('sha256').update(UI_STYLE).digest('hex').slice(0, 12);
