/** Turns on notices in this browser: asks for permission, subscribes, and sends the form with what the browser gave. */
(() => {
  const form = document.querySelector('form[data-push]');
  if (!form) return;
  const note = document.getElementById('push-note');
  const button = form.querySelector('button');
  const { push: key, worker, scope } = form.dataset;
  const say = (text) => (note.textContent = text);
  if (
    !('serviceWorker' in navigator) ||
    !('PushManager' in window) ||
    !('Notification' in window)
  ) {
    say(
      isSecureContext
        ? 'This browser can’t show notices. On an iPhone or iPad, add this page to the Home Screen first and open it there.'
        : 'Browsers show notices only for addresses that begin with https://.',
    );
    return;
  }
  const agent = navigator.userAgent;
  const of = (names) => (names.find(([pattern]) => pattern.test(agent)) ?? [null, ''])[1];
  const browser = of([
    [/Firefox/, 'Firefox'],
    [/Edg/, 'Edge'],
    [/Chrom/, 'Chrome'],
    [/Safari/, 'Safari'],
  ]);
  const system = of([
    [/Android/, 'Android'],
    [/iPhone|iPad/, 'iOS'],
    [/Mac/, 'macOS'],
    [/Windows/, 'Windows'],
    [/Linux/, 'Linux'],
  ]);
  if (form.name.value === '') form.name.value = [browser, system].filter(Boolean).join(' on ');
  say('');
  button.disabled = false;
  const bytesOf = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    );
  const subscribe = async () => {
    if ((await Notification.requestPermission()) !== 'granted') {
      return say(
        'This browser blocks notices from this page. Allow them in the settings of the browser, then try again.',
      );
    }
    const registration = await navigator.serviceWorker.register(worker, { scope });
    const { pushManager } = registration;
    const wanted = { userVisibleOnly: true, applicationServerKey: bytesOf(key) };
    // One that was made with an earlier key is of no use.
    const subscription = await pushManager.subscribe(wanted).catch(async () => {
      await (await pushManager.getSubscription())?.unsubscribe();
      return pushManager.subscribe(wanted);
    });
    form.subscription.value = JSON.stringify(subscription);
    form.submit();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    subscribe()
      .catch(() => say('The browser couldn’t turn on notices. Is it online?'))
      .finally(() => (button.disabled = false));
  });
})();
