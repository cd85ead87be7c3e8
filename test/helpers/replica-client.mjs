import Libsql from 'libsql';

/**
 * A stock replica in a separate process: its calls block the event loop, and an abort in the driver ends the process.
 * `sync` brings it up to date and answers with its content; `follow` keeps it up to date until the next command.
 */
const SUMMARY =
  'SELECT name, substr(value, 1, 20) AS head, length(value) AS chars FROM item ORDER BY name';
const [path, syncUrl] = process.argv.slice(2);
let replica = null;
let isFollowing = false;

function sync() {
  replica ??= new Libsql(path, { syncUrl, authToken: 'none' });
  replica.sync();
}

/** Opens the file itself, as the daemon does: the replica would ask the gateway. */
function content() {
  const reader = new Libsql(path, { readonly: true });
  const { integrity_check: integrity } = reader.prepare('PRAGMA integrity_check').get([]);
  const rows = reader.prepare(SUMMARY).all([]);
  reader.close();
  return { integrity, rows: rows.map(({ name, head, chars }) => [name, head, chars]) };
}

function follow() {
  if (!isFollowing) return;
  sync();
  setTimeout(follow, 1);
}

process.on('message', (message) => {
  try {
    isFollowing = message === 'follow';
    if (isFollowing) return follow();
    sync();
    process.send(content());
  } catch (error) {
    process.send({ error: String(error) });
  }
});
process.on('disconnect', () => process.exit());
