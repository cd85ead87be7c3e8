import { createHash } from 'node:crypto';
import { LIVE_SCRIPT } from './scripts/live.ts';
import { TIME_SCRIPT } from './scripts/time.ts';

/** Handles keyboard shortcuts, the copy buttons, and the button of a link that the user just requested. */
const KEYS_SCRIPT = String.raw`
(() => {
  const find = (selector) => document.querySelector(selector);

  // A second click on the way to a slow answer is not a second wish.
  const sent = new WeakSet();
  document.addEventListener('submit', (event) => {
    const { target } = event;
    if (target.method !== 'post') return;
    if (sent.has(target)) event.preventDefault();
    sent.add(target);
    setTimeout(() => sent.delete(target), 3000);
  });

  const form = find('form[data-send]');
  if (form) form.requestSubmit();
  // On a phone the pages do not all fit beside each other.
  find('#nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });

  // Keys.
  const isTyping = ({ target }) => target.matches('textarea, input, select, [contenteditable]');
  const step = (by) => {
    const rows = [...document.querySelectorAll('[data-row]')];
    const at = rows.indexOf(document.activeElement);
    const next = at < 0 ? rows[by > 0 ? 0 : rows.length - 1] : rows[at + by];
    if (next) next.focus();
    return rows.length > 0;
  };
  const focusOn = (selector) => {
    const one = find(selector);
    if (one) one.focus();
    return one !== null;
  };
  const isInList = () => document.activeElement?.matches('[data-row]') ?? false;
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => isInList() && step(1),
    ArrowUp: () => isInList() && step(-1),
    a: () => focusOn('main button[value="approve"]'),
    d: () => focusOn('main button[value="deny"]'),
    u: () => {
      const up = find('[data-up]');
      if (up) up.click();
      return up !== null;
    },
    '?': () => {
      const help = find('#help');
      if (help && !help.open) help.showModal();
      return help !== null;
    },
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (find('dialog[open]')) return;
    const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (act && act()) event.preventDefault();
  });

  // What is to be taken elsewhere.
  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('[data-copy]');
    const field = button && document.getElementById(button.dataset.copy);
    if (!field) return;
    field.select();
    // Only over TLS, and on one's own machine, there is a clipboard.
    const done = () => (button.textContent = 'Copied');
    if (navigator.clipboard) navigator.clipboard.writeText(field.value).then(done, () => {});
    else if (document.execCommand('copy')) done();
  });
})();
`;

/** The pages' only script, joined from parts that don't know each other; all pages work without it. */
export const SCRIPT = [`'use strict';`, KEYS_SCRIPT, TIME_SCRIPT, LIVE_SCRIPT].join('');

export const SCRIPT_VERSION = createHash('sha256').update(SCRIPT).digest('hex').slice(0, 12);
