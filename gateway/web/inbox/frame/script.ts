import { createHash } from 'node:crypto';
import { HOLD_SCRIPT } from '../../pages/hold-script.ts';
import { COPY_SCRIPT } from './scripts/copy.ts';
import { EVENTS_SCRIPT } from './scripts/events.ts';
import { FORMS_SCRIPT } from './scripts/forms.ts';
import { KEYS_SCRIPT } from './scripts/keys.ts';
import { LIVE_SCRIPT } from './scripts/live.ts';
import { PUSH_SCRIPT } from './scripts/push.ts';
import { TIME_SCRIPT } from './scripts/time.ts';
import { TREE_SCRIPT } from './scripts/tree.ts';

/**
 * The only script of the pages, which all work without it. Each part stands alone; the forms come last, because one may
 * be sent at once and the other parts must hear of it. A part only inserts content from the page of the same URL.
 */
const PARTS = [
  HOLD_SCRIPT,
  KEYS_SCRIPT,
  COPY_SCRIPT,
  TIME_SCRIPT,
  EVENTS_SCRIPT,
  TREE_SCRIPT,
  LIVE_SCRIPT,
  PUSH_SCRIPT,
  FORMS_SCRIPT,
];

export const SCRIPT = `'use strict';\n${PARTS.join('\n')}\n`;

export const SCRIPT_VERSION = createHash('sha256').update(SCRIPT).digest('hex').slice(0, 12);
