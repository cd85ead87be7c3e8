/**
 * Shows each time in the reader's time zone, which only the browser knows. The server's text is in UTC and says so.
 * Runs again on what a refresh brings, before it is compared with what is shown.
 */
(() => {
  const { language } = navigator;
  // The pages are in English. Each kind of English names the zones of its own readers.
  const locale = language.startsWith('en') ? language : 'en-GB';
  const format = (options) => new Intl.DateTimeFormat(locale, options);
  const zone = format({ timeZoneName: 'short', hour: 'numeric' });
  const two = (number) => String(number).padStart(2, '0');
  const textOf = (at, now, isShort) => {
    const parts = [at.getHours(), at.getMinutes(), at.getSeconds()].slice(0, isShort ? 2 : 3);
    const clock = parts.map(two).join(':');
    const named =
      clock + ' ' + zone.formatToParts(at).find(({ type }) => type === 'timeZoneName').value;
    if (at.toDateString() === now.toDateString()) return named;
    const month = new Intl.DateTimeFormat('en', { month: 'long' }).format(at);
    if (isShort) return at.getDate() + ' ' + month.slice(0, 3) + ', ' + named;
    const year = at.getFullYear() === now.getFullYear() ? '' : ' ' + at.getFullYear();
    return named + ' on ' + at.getDate() + ' ' + month + year;
  };
  const localize = (root) => {
    const now = new Date();
    for (const one of root.querySelectorAll('time[datetime]:not([data-age])')) {
      const at = new Date(one.dateTime);
      if (!Number.isNaN(at.getTime()))
        one.textContent = textOf(at, now, one.dataset.short !== undefined);
    }
  };
  document.addEventListener('svc:fresh', ({ detail }) => localize(detail));
  localize(document);
})();
