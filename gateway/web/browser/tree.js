/** The tree of a payload: a search in it, arrow keys, and the path of the value that was chosen last. */
(() => {
  const tree = () => document.querySelector('[data-tree]');
  const lineOf = (node) => node?.closest?.('[data-tree] li[data-k]') ?? null;
  const handleOf = (line) => line.querySelector(':scope > details > summary') ?? line;

  const choose = (line) => {
    const steps = [];
    for (let one = line; one; one = lineOf(one.parentElement)) steps.unshift(one.dataset.k);
    const base = tree().dataset.base;
    const path = (base === '.' ? '' : base) + steps.join('');
    const field = document.getElementById('tree-path');
    if (field) field.value = path.startsWith('.') ? path : '.' + path;
    for (const one of document.querySelectorAll('[data-tree] .chosen'))
      one.classList.remove('chosen');
    line.classList.add('chosen');
  };
  document.addEventListener('click', ({ target }) => {
    const line = lineOf(target);
    if (line) choose(line);
  });
  document.addEventListener('focusin', ({ target }) => {
    const line = lineOf(target);
    if (line && handleOf(line) === target) choose(line);
  });

  // Arrow keys go through what is unfolded.
  const isShown = (line) => line.checkVisibility();
  const move = (from, by) => {
    const lines = [...document.querySelectorAll('[data-tree] li[data-k]')].filter(isShown);
    const next = lines[lines.indexOf(from) + by];
    if (!next) return;
    const handle = handleOf(next);
    if (handle === next) next.tabIndex = -1;
    handle.focus();
  };
  const foldOrLeave = (line, details) => {
    const above = lineOf(line.parentElement);
    if (details?.open) details.open = false;
    else if (above) handleOf(above).focus();
  };
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const line = lineOf(event.target);
    if (!line || event.target.matches('a')) return;
    const details = line.querySelector(':scope > details');
    const arrows = {
      ArrowDown: () => move(line, 1),
      ArrowUp: () => move(line, -1),
      ArrowRight: details && (() => (details.open = true)),
      ArrowLeft: () => foldOrLeave(line, details),
    };
    const act = Object.hasOwn(arrows, event.key) ? arrows[event.key] : null;
    if (!act) return;
    act();
    event.preventDefault();
  });

  // The search: Enter goes to the next hit, with Shift to the one before.
  let hits = [];
  let at = -1;
  const textOf = (line) => {
    const summary = line.querySelector(':scope > details > summary');
    return (summary ?? line).textContent.toLowerCase();
  };
  const show = () => {
    const line = hits[at];
    for (let one = line?.parentElement; one; one = one.parentElement) {
      if (one.tagName === 'DETAILS') one.open = true;
    }
    if (line) {
      choose(line);
      line.scrollIntoView({ block: 'nearest' });
    }
    const told = document.getElementById('tree-hits');
    const typed = document.getElementById('tree-search').value.trim();
    told.textContent =
      typed === '' ? '' : hits.length === 0 ? 'No match' : at + 1 + ' of ' + hits.length;
  };
  const search = () => {
    const wanted = document.getElementById('tree-search').value.trim().toLowerCase();
    for (const one of hits) one.classList.remove('hit');
    hits =
      wanted === ''
        ? []
        : [...document.querySelectorAll('[data-tree] li[data-k]')].filter((line) =>
            textOf(line).includes(wanted),
          );
    for (const one of hits) one.classList.add('hit');
    at = hits.length > 0 ? 0 : -1;
    show();
  };
  document.addEventListener('input', ({ target }) => {
    if (target.id === 'tree-search') search();
  });
  document.addEventListener('keydown', (event) => {
    if (event.target.id !== 'tree-search' || event.key !== 'Enter' || hits.length === 0) return;
    at = (at + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
    show();
    event.preventDefault();
  });

  // A payload never changes: a refresh leaves it as it was unfolded, with what was searched for.
  document.addEventListener('svc:fresh', ({ detail: fresh }) => {
    for (const part of ['[data-tree-tools]', '[data-tree]']) {
      const old = document.querySelector(part);
      const next = fresh.querySelector(part);
      if (old && next) next.replaceWith(fresh.importNode(old, true));
    }
    const [field, next] = [
      document.getElementById('tree-search'),
      fresh.getElementById('tree-search'),
    ];
    if (field && next) next.value = field.value;
    const [path, nextPath] = [
      document.getElementById('tree-path'),
      fresh.getElementById('tree-path'),
    ];
    if (path && nextPath) nextPath.value = path.value;
    setTimeout(() => {
      if (hits.length === 0) return;
      hits = [...document.querySelectorAll('[data-tree] .hit')];
    });
  });
})();
