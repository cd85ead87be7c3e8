/** Keyboard shortcuts of lists and pages. */
(() => {
  const find = (selector) => document.querySelector(selector);
  const isTyping = ({ target }) =>
    target.matches('textarea, input:not([type=checkbox]), select, [contenteditable]');
  const step = (by) => {
    const rows = [...document.querySelectorAll('[data-row]')];
    const held = document.activeElement?.closest('li')?.querySelector('[data-row]');
    const at = rows.indexOf(held ?? document.activeElement);
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
  // After g, the first letter of a page in the first row goes there.
  const GOING_MS = 1500;
  let goesUntil = 0;
  const goTo = (letter) => {
    const isGoing = Date.now() < goesUntil;
    goesUntil = 0;
    const links = isGoing ? [...document.querySelectorAll('#nav > ul:first-child a')] : [];
    const link = links.find((one) => one.textContent.trim().toLowerCase().startsWith(letter));
    if (link) link.click();
    return link !== undefined;
  };
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => isInList() && step(1),
    ArrowUp: () => isInList() && step(-1),
    a: () => focusOn('main button[value="approve"]'),
    d: () => focusOn('main button[value="deny"]'),
    '/': () => focusOn('main input[type=search]'),
    x: () => {
      const box = document.activeElement?.closest('li')?.querySelector('[data-pick]');
      if (box) box.click();
      return Boolean(box);
    },
    g: () => (goesUntil = Date.now() + GOING_MS) > 0,
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
    if (goTo(event.key) || (act && act())) event.preventDefault();
  });
})();
