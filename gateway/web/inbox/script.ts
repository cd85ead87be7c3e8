import { createHash } from 'node:crypto';

/**
 * The pages' only script; all pages work without it. It handles keyboard shortcuts, live refresh, and the button of a
 * link that the user just requested. It only inserts content from the page of the same URL.
 */
export const SCRIPT = String.raw`'use strict';
(() => {
  const find = (selector) => document.querySelector(selector);

  // A second click on the way to a slow answer is not a second wish. Until the answer is there the page is left alone: to load
  // it again would take the answer away.
  const sent = new WeakSet();
  let isLeaving = false;
  let lookAgain = () => {};
  document.addEventListener('submit', (event) => {
    const { target } = event;
    if (target.method === 'dialog') return;
    isLeaving = true;
    // A form may also bring a file, or nothing.
    setTimeout(() => {
      isLeaving = false;
      lookAgain();
    }, 30_000);
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

  // What changes while one looks.
  const { live, topics = '' } = document.body.dataset;
  if (!live) return;
  const wanted = new Set(topics.split(' '));
  let stream = null;
  let isLooking = false;
  let isStale = false;
  // What is replaced between press and release was not clicked.
  let isPressed = false;
  lookAgain = () => {
    if (isStale) look();
  };
  const release = () => {
    isPressed = false;
    setTimeout(lookAgain);
  };
  // Another button opens a menu, and is not told of again.
  document.addEventListener('pointerdown', ({ button }) => (isPressed = button === 0));
  for (const name of ['pointerup', 'pointercancel', 'contextmenu', 'dragend']) document.addEventListener(name, release);
  addEventListener('blur', release);
  const FIELDS = 'main textarea, main input:not([type=hidden], [readonly])';
  // A page that says what is wrong with a form has another one behind the same address.
  const isWritten = () =>
    find('main [role=alert], main [aria-invalid]') !== null ||
    [...document.querySelectorAll('main option')].some((one) => one.selected !== one.defaultSelected) ||
    [...document.querySelectorAll(FIELDS)].some(
      (field) =>
        field.value !== field.defaultValue ||
        field.checked !== field.defaultChecked ||
        field === document.activeElement,
    );
  const markOf = (one) => one?.id || one?.getAttribute('href') || one?.value || null;
  const swap = (fresh) => {
    const held = markOf(document.activeElement);
    const open = [...document.querySelectorAll('main details[open] > summary')].map((one) => one.textContent);
    for (const id of ['nav', 'page']) {
      const old = document.getElementById(id);
      const one = fresh.getElementById(id);
      if (!old || !one || old.innerHTML === one.innerHTML) continue;
      old.className = one.className;
      old.replaceChildren(...[...one.childNodes].map((node) => document.adoptNode(node)));
    }
    document.title = fresh.title;
    for (const summary of document.querySelectorAll('main details > summary')) {
      if (open.includes(summary.textContent)) summary.parentElement.open = true;
    }
    if (held === null || document.activeElement !== document.body) return;
    const again = [...document.querySelectorAll('a, button, summary, [id]')].find((one) => markOf(one) === held);
    if (again) again.focus({ preventScroll: true });
  };
  const look = async () => {
    isStale = true;
    if (isLooking || isLeaving || isPressed || document.hidden || find('dialog[open], main [data-keep]')) return;
    if (isWritten()) {
      find('#stale').textContent = 'Something changed here since you started typing.';
      return;
    }
    isLooking = true;
    isStale = false;
    try {
      const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, redirect: 'error' });
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (isLeaving || isPressed) isStale = true;
      else if (answer.status === 200 || answer.status === 404) {
        swap(fresh);
        find('#stale').textContent = '';
      } else if (answer.status === 401) location.reload();
    } catch {
      // Away for a moment: the stream comes again, and with it another look.
      isStale = true;
    }
    // Not more often than this, however much happens.
    setTimeout(() => {
      isLooking = false;
      lookAgain();
    }, 700);
  };
  // A session that is over shows nothing more, whatever was being written.
  const leaveIfOver = async () => {
    isStale = true;
    // What was sent leads on by itself.
    if (isLeaving) return;
    const status = await fetch(location.href, { redirect: 'error' }).then((answer) => answer.status, () => 0);
    if (status === 401) location.reload();
    else setTimeout(listen, 3000);
  };
  const listen = () => {
    if (document.hidden) {
      stream?.close();
      stream = null;
      return;
    }
    if (stream) return;
    let isFirst = true;
    stream = new EventSource(live);
    stream.addEventListener('open', () => {
      // What happened while nobody listened is not known.
      if (!isFirst || isStale) look();
      isFirst = false;
    });
    stream.addEventListener('changed', ({ data }) => {
      if (JSON.parse(data).topics.some((topic) => wanted.has(topic))) look();
    });
    stream.addEventListener('ended', () => {
      stream.close();
      stream = null;
      leaveIfOver();
    });
  };
  document.addEventListener('visibilitychange', () => {
    isStale = true;
    listen();
  });
  listen();
})();
`;

export const SCRIPT_VERSION = createHash('sha256').update(SCRIPT).digest('hex').slice(0, 12);
