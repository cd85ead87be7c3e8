/**
 * Keeps a page up to date while somebody looks at it, and says when it can't. It only inserts content from the page of
 * the same URL. Other scripts prepare that content on the event "svc:fresh", whose detail is the new document,
 * and ask for it with "svc:look".
 */
(() => {
  const find = (selector) => document.querySelector(selector);
  const { live, topics = '', pace = '700' } = document.body.dataset;
  if (!live) return;
  const wanted = new Set(topics.split(' '));
  let isLooking = false;
  let isStale = false;
  const lookAgain = () => {
    if (isStale) void look();
  };

  // Until the answer to a form is there the page is left alone: to load it again would take the answer away.
  let isLeaving = false;
  document.addEventListener('submit', ({ target }) => {
    if (target.method === 'dialog') return;
    isLeaving = true;
    // A form may also bring a file, or nothing.
    setTimeout(() => {
      isLeaving = false;
      lookAgain();
    }, 30_000);
  });

  // What is replaced between press and release was not clicked.
  let isPressed = false;
  const release = () => {
    isPressed = false;
    setTimeout(lookAgain);
  };
  // Any other button opens a menu, and its release isn't reported.
  document.addEventListener('pointerdown', ({ button }) => (isPressed = button === 0));
  for (const name of ['pointerup', 'pointercancel', 'contextmenu', 'dragend'])
    document.addEventListener(name, release);
  addEventListener('blur', release);

  const FIELDS = 'main textarea, main input:not([type=hidden], [readonly], [data-pick])';
  // A page that says what is wrong with a form has another one behind the same address.
  const isWritten = () =>
    find('[role=alert], main [aria-invalid]') !== null ||
    [...document.querySelectorAll('main option')].some(
      (one) => one.selected !== one.defaultSelected,
    ) ||
    [...document.querySelectorAll(FIELDS)].some(
      (field) =>
        field.value !== field.defaultValue ||
        field.checked !== field.defaultChecked ||
        field === document.activeElement,
    );
  const proof = find('input[name=csrf]').value;
  const markOf = (one) => one?.id || one?.getAttribute('href') || one?.value || null;
  const swap = (fresh) => {
    document.dispatchEvent(new CustomEvent('svc:fresh', { detail: fresh }));
    // After reading the page for a while, nobody has to wait again: its forms count as old as the page.
    for (const field of fresh.querySelectorAll('input[name=csrf]'))
      field.setAttribute('value', proof);
    const held = markOf(document.activeElement);
    const open = [...document.querySelectorAll('main details[open] > summary')].map(
      (one) => one.textContent,
    );
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
    const again = [...document.querySelectorAll('a, button, summary, [id]')].find(
      (one) => markOf(one) === held,
    );
    if (again) again.focus({ preventScroll: true });
  };
  const mustWait = () =>
    isLooking ||
    isLeaving ||
    isPressed ||
    document.hidden ||
    find('dialog[open], main [data-keep]') !== null;
  const look = async () => {
    isStale = true;
    if (mustWait()) return;
    if (isWritten()) {
      find('#stale').textContent = 'Something changed here since you started typing.';
      return;
    }
    isLooking = true;
    isStale = false;
    try {
      const answer = await fetch(location.href, {
        headers: { Accept: 'text/html' },
        redirect: 'error',
        signal: AbortSignal.timeout(10_000),
      });
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      if (isLeaving || isPressed) isStale = true;
      else if (answer.status === 200 || answer.status === 404) {
        swap(fresh);
        find('#stale').textContent = '';
      } else if (answer.status === 401) location.reload();
    } catch {
      // Disconnected for a moment: when the stream is back, the page refreshes.
      isStale = true;
    }
    // Not more often than this, however much happens.
    setTimeout(() => {
      isLooking = false;
      lookAgain();
    }, Number(pace));
  };

  // The server sends a beat each second. A silence that is longer is a lost connection, whatever the browser believes.
  const SILENCE_MS = 2600;
  // A connection that died without a word never comes back: ask for another one.
  const ANOTHER_MS = 10_000;
  let stream = null;
  let timer = 0;
  let heardAt = new Date();
  let isLost = false;
  const show = (text) => {
    const line = find('#connection');
    if (line.textContent !== text) line.textContent = text;
  };
  const expect = (ms, act) => {
    clearTimeout(timer);
    const due = Date.now() + ms;
    timer = setTimeout(() => {
      // The machine was asleep, so it couldn't receive anything.
      if (Date.now() - due > 1000) expect(ms, act);
      else act();
    }, ms);
  };
  const heard = () => {
    heardAt = new Date();
    show('');
    expect(SILENCE_MS, lose);
    if (!isLost) return;
    isLost = false;
    void look();
  };
  const lose = () => {
    isLost = true;
    isStale = true;
    const since = [heardAt.getHours(), heardAt.getMinutes()]
      .map((part) => String(part).padStart(2, '0'))
      .join(':');
    show('Not connected. What you see is from ' + since + '.');
    expect(ANOTHER_MS, reopen);
  };
  const close = () => {
    stream?.close();
    stream = null;
  };
  const reopen = () => {
    close();
    open();
    expect(ANOTHER_MS, reopen);
  };
  // A session that is over shows nothing more, whatever was being written.
  const leaveIfOver = async (again) => {
    isStale = true;
    // What was sent leads on by itself.
    if (isLeaving) return;
    const options = { redirect: 'error', signal: AbortSignal.timeout(10_000) };
    const status = await fetch(location.href, options).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 401) location.reload();
    else setTimeout(listen, again);
  };
  const open = () => {
    let isFirst = true;
    const own = (stream = new EventSource(live));
    own.addEventListener('open', () => {
      heard();
      // We don't know what happened while the stream was down.
      if (!isFirst || isStale) void look();
      isFirst = false;
    });
    own.addEventListener('beat', heard);
    own.addEventListener('changed', ({ data }) => {
      heard();
      if (JSON.parse(data).topics.some((topic) => wanted.has(topic))) void look();
    });
    own.addEventListener('ended', () => {
      close();
      void leaveIfOver(3000);
    });
    own.addEventListener('error', () => {
      // The browser tries again by itself, unless the answer was a refusal, such as a proxy's.
      if (own.readyState !== 2 || own !== stream) return;
      close();
      void leaveIfOver(2000);
    });
  };
  const listen = () => {
    if (document.hidden) {
      close();
      clearTimeout(timer);
    } else if (!stream) {
      open();
      expect(isLost ? ANOTHER_MS : SILENCE_MS, isLost ? reopen : lose);
    }
  };
  document.addEventListener('visibilitychange', () => {
    isStale = true;
    listen();
  });
  document.addEventListener('svc:look', () => void look());
  addEventListener('online', () => {
    if (isLost && !document.hidden) reopen();
  });
  listen();
})();
