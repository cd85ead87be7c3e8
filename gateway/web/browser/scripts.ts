import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A file without the comment about it. */
function textOf(name: string): string {
  const file = new URL(`./${name}.js`, import.meta.url);
  return readFileSync(file, 'utf8').replace(/^\/\*\*[^]*?\*\/\n/, '');
}

// What browsers run, as text. The build writes the texts into the bundle in place of this file: see build.mjs.

/** Buttons take a press only once their page was in front of the person. Pages without other scripts contain it. */
export const HOLD_SCRIPT = textOf('hold');

/**
 * The only script of the inbox's pages, which all work without it. Each part stands alone; the forms come last, because
 * one may be sent at once and the other parts must hear of it. A part only inserts content from the page of the same URL.
 */
export const INBOX_SCRIPT = `'use strict';\n${HOLD_SCRIPT}${[
  'keys',
  'copy',
  'time',
  'events',
  'tree',
  'live',
  'push',
  'forms',
]
  .map(textOf)
  .join('')}`;

export const INBOX_SCRIPT_VERSION = createHash('sha256')
  .update(INBOX_SCRIPT)
  .digest('hex')
  .slice(0, 12);

/** The service worker, which shows pushes as notices. */
export const WORKER_SCRIPT = textOf('worker');
