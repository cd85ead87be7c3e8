/** Sends a form once, and the form of a link that a person just asked for without another click. */
(() => {
  // A second click while the answer is slow isn't a second request.
  const sent = new WeakSet();
  document.addEventListener('submit', (event) => {
    const { target } = event;
    if (target.method !== 'post') return;
    if (sent.has(target)) event.preventDefault();
    sent.add(target);
    setTimeout(() => sent.delete(target), 3000);
  });
  document.querySelector('form[data-send]')?.requestSubmit();
})();
