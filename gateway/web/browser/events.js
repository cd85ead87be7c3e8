/**
 * The list of events: new ones wait behind a bar while somebody reads further down, and selected ones stay selected.
 */
(() => {
  const find = (selector) => document.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Selection.
  const picked = () => all('[data-pick]:checked');
  const tellPicked = () => {
    const line = find('[data-picked]');
    if (line)
      line.textContent =
        picked().length === 0 ? 'Selected events:' : picked().length + ' selected:';
  };
  document.addEventListener('change', ({ target }) => {
    if (target.matches('[data-pick]')) tellPicked();
  });
  document.addEventListener('click', ({ target }) => {
    if (!target.closest?.('[data-pick-all]')) return;
    const boxes = all('[data-pick]');
    const isAll = boxes.every(({ checked }) => checked);
    for (const box of boxes) box.checked = !isAll;
    tellPicked();
  });

  // New events. Nothing moves under somebody who reads, has a row in the keyboard's focus or has selected rows.
  const plural = (count) => count + (count === 1 ? ' new event' : ' new events');
  let wantsAll = false;
  const isReading = (list) =>
    !wantsAll && (scrollY > 8 || picked().length > 0 || list.contains(document.activeElement));
  const keepRows = (list, next) => {
    const fresh = new Map([...next.children].map((row) => [row.dataset.event, row]));
    const old = [...list.children];
    const firstKnown = [...next.children].findIndex((row) =>
      old.some((one) => one.dataset.event === row.dataset.event),
    );
    const count = firstKnown < 0 ? next.children.length : firstKnown;
    const rows = old.map((row) => {
      const same = fresh.get(row.dataset.event);
      return same ?? next.ownerDocument.importNode(row, true);
    });
    next.replaceChildren(...rows);
    return count;
  };
  document.addEventListener('svc:fresh', ({ detail: fresh }) => {
    const list = find('[data-events="first"]');
    const next = fresh.querySelector('[data-events="first"]');
    if (!list || !next) return;
    const ids = picked().map(({ value }) => value);
    if (isReading(list)) {
      const count = keepRows(list, next);
      const bar = fresh.querySelector('[data-fresh]');
      if (count > 0 && bar) {
        const button = fresh.createElement('button');
        button.type = 'button';
        button.className = 'btn small';
        button.textContent = plural(count);
        bar.append(button);
      }
    }
    wantsAll = false;
    for (const box of all('[data-pick]', next)) box.checked = ids.includes(box.value);
    setTimeout(tellPicked);
  });
  document.addEventListener('click', ({ target }) => {
    if (!target.closest?.('[data-fresh] button')) return;
    wantsAll = true;
    scrollTo(0, 0);
    document.dispatchEvent(new CustomEvent('svc:look'));
  });
})();
