/** Buttons that copy the value of a field. */
export const COPY_SCRIPT = String.raw`(() => {
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
})();`;
