/** Buttons that copy the value of a field. */
(() => {
  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('[data-copy]');
    const field = button && document.getElementById(button.dataset.copy);
    if (!field) return;
    field.select();
    // Only over TLS, and on one's own machine, there is a clipboard.
    const tellDone = () => (button.textContent = 'Copied');
    if (navigator.clipboard) navigator.clipboard.writeText(field.value).then(tellDone, () => {});
    else if (document.execCommand('copy')) tellDone();
  });
})();
