/**
 * A button works once the page was in front of the person for a second, so that no click that was under way presses it.
 * Each press that comes too soon begins the second anew. The server has the same rule for new pages; only the script
 * knows that an old one was hidden. While buttons work, the document has the attribute `data-ready`. Screen readers
 * hear why a press did nothing, and when the next one works.
 */
(() => {
  const READING_MS = 1000;
  const HELD = 'form[method=post] :is(button:not([type=button]), input[type=submit]), a[data-hold]';
  const root = document.documentElement;
  // After a window moves, something else is under the pointer. Inner sizes also change with a phone's keyboard.
  const placeNow = () => [screenX, screenY, outerWidth, outerHeight].join();
  let timer = 0;
  let place = '';
  let wasFocused = false;
  let isEarly = true;
  let isPressed = false;
  let isTold = false;
  const tell = (text) => {
    const note = document.getElementById('held');
    if (note) note.textContent = text;
  };
  const wait = () => {
    delete root.dataset.ready;
    clearTimeout(timer);
    place = placeNow();
    timer = setTimeout(() => {
      // A new window may still be moving into position.
      if (placeNow() !== place) return wait();
      root.dataset.ready = '';
      if (isTold) tell('You can press it now.');
      isTold = false;
    }, READING_MS);
  };
  const isReady = () => 'ready' in root.dataset && !document.hidden && placeNow() === place;
  const press = () => {
    isPressed = true;
    // Some mail programs show pages that never have the focus: there, the first press only gives notice.
    isEarly = !isReady() || !(wasFocused || document.hasFocus());
    wasFocused = true;
    if (isEarly) wait();
  };
  const waitIfMoved = () => {
    if (placeNow() !== place) wait();
  };
  const stop = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.target.closest('form, a').dataset.held = '';
    if (!isTold)
      tell(
        'Not done: the page was in front for less than a second. Wait a second, then press again.',
      );
    isTold = true;
  };
  wait();
  addEventListener('focus', () => {
    wasFocused = true;
    wait();
  });
  for (const name of ['blur', 'pageshow', 'hashchange']) addEventListener(name, wait);
  document.addEventListener('visibilitychange', wait);
  // After turning the phone or moving the window, people look at the page again before they press.
  addEventListener('resize', waitIfMoved);
  document.addEventListener('pointermove', waitIfMoved, true);
  document.addEventListener('pointerdown', press, true);
  document.addEventListener(
    'keydown',
    (event) => {
      const { key, repeat, target } = event;
      // Enter in a field sends its form. On a link in a form it only follows the link.
      const isPress =
        target.matches(HELD) || (key === 'Enter' && target.matches('form[method=post] input'));
      if (!isPress || (key !== 'Enter' && key !== ' ')) return;
      press();
      // A key that is held down was pressed for something else.
      if (repeat) isEarly = true;
      if (isEarly) stop(event);
    },
    true,
  );
  document.addEventListener(
    'click',
    (event) => {
      const isHeld = event.target.closest(HELD) !== null;
      // Screen readers and voice control click without pressing anything.
      if (isHeld && !isPressed) press();
      isPressed = false;
      if (isHeld && (isEarly || !isReady())) stop(event);
    },
    true,
  );
})();
