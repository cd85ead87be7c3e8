/** The service worker: shows a push as a notice, and opens its page on a click. It stores nothing and fetches nothing. */
'use strict';
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('push', (event) => {
  const { title, body, path, tag } = event.data.json();
  const icon = new URL('icon.png', self.location).href;
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon, data: { path } }));
});
self.addEventListener('notificationclick', (event) => {
  const { notification } = event;
  notification.close();
  const url = new URL(notification.data.path, self.location);
  // Only pages of this service, whatever a push says.
  if (url.origin === self.location.origin) event.waitUntil(self.clients.openWindow(url.href));
});
