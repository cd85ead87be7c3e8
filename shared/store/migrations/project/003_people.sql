-- People: requests and who is asked, channels, the policy, and what goes out to callbacks.

-- A request as it was asked and as it ended. `subject` says what exactly was asked, as canonical JSON: the same again of
-- the same key is the same request. `proposal` is what an approval applies (a policy).
CREATE TABLE people_request (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  key_id TEXT NOT NULL,
  agent TEXT,
  platform TEXT NOT NULL DEFAULT 'unknown',
  subject TEXT NOT NULL,
  action TEXT,
  summary TEXT NOT NULL DEFAULT '',
  details TEXT,
  risk TEXT,
  amount REAL,
  question TEXT,
  options TEXT NOT NULL DEFAULT '[]',
  proposal TEXT,
  decision TEXT,
  comment TEXT,
  hint TEXT,
  decided_by TEXT,
  approvers TEXT NOT NULL DEFAULT '[]',
  policy_version INTEGER NOT NULL DEFAULT 0,
  rule TEXT,
  state_ref TEXT,
  callback_url TEXT,
  created_at TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  redeemed_at INTEGER
) STRICT, WITHOUT ROWID;

INSERT INTO people_request (id, kind, status, key_id, subject, comment, created_at, expires_at, decided_at, redeemed_at)
SELECT id, kind, status, key_id, subject, comment, created_at, expires_at, decided_at, redeemed_at FROM request;
DROP TABLE request;
ALTER TABLE people_request RENAME TO request;

CREATE INDEX request_pending ON request (key_id, kind, subject) WHERE status = 'pending';
CREATE INDEX request_expiry ON request (expires_at) WHERE status = 'pending';
CREATE INDEX request_status ON request (status, id);

-- A person and a way to reach them. `address` is sealed; `address_hash` is keyed and finds it again.
CREATE TABLE channel (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  status TEXT NOT NULL,
  owner INTEGER NOT NULL DEFAULT 0,
  address BLOB,
  address_hash TEXT,
  masked TEXT,
  created_at TEXT NOT NULL,
  created_by TEXT,
  verified_at TEXT,
  activated_at TEXT,
  removed_at TEXT,
  last_used_at TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX channel_address ON channel (address_hash) WHERE status <> 'removed' AND address_hash IS NOT NULL;
CREATE UNIQUE INDEX channel_owner ON channel (owner) WHERE owner = 1 AND status <> 'removed';

-- A link that confirms an address.
CREATE TABLE channel_token (
  token_hash TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX channel_token_channel ON channel_token (channel_id);
CREATE INDEX channel_token_expiry ON channel_token (expires_at);

-- What is sent to people, and what became of it. The token of a link is kept sealed, so that sending can be repeated.
CREATE TABLE notice (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  request_id TEXT,
  token BLOB,
  token_hash TEXT UNIQUE,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  message_id TEXT,
  reason TEXT,
  created_at TEXT NOT NULL,
  sent_at TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX notice_due ON notice (due_at) WHERE status = 'queued';
CREATE INDEX notice_request ON notice (request_id, channel_id);
CREATE INDEX notice_message ON notice (channel_id, message_id) WHERE message_id IS NOT NULL;

-- Every policy that ever held; the newest version holds.
CREATE TABLE policy (
  version INTEGER PRIMARY KEY,
  rules TEXT NOT NULL,
  note TEXT,
  request_id TEXT,
  approved_by TEXT,
  approved_at TEXT NOT NULL
) STRICT;

-- Events that are pushed instead of pulled. The secret goes with the removal.
CREATE TABLE route (
  id TEXT PRIMARY KEY,
  callback_url TEXT NOT NULL,
  destination TEXT NOT NULL,
  match_source TEXT,
  match_type TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT,
  secret BLOB,
  created_at TEXT NOT NULL,
  created_by TEXT,
  removed_at TEXT
) STRICT, WITHOUT ROWID;

-- What callbacks of requests are signed with. After a rotation the old secret signs beside the new one for a while.
CREATE TABLE callback_secret (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  secret BLOB NOT NULL,
  created_at TEXT NOT NULL,
  previous BLOB,
  previous_valid_until INTEGER
) STRICT;

-- An event on its way to one address, by a route or by the callback of a request. `destination` is host and port.
-- `attempts_before` were made before somebody asked for another round: the schedule begins anew with it.
CREATE TABLE delivery (
  id TEXT PRIMARY KEY,
  event_seq INTEGER NOT NULL,
  route_id TEXT,
  request_id TEXT,
  url TEXT NOT NULL,
  destination TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempts_before INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;

-- What is due is asked for by destination, so that one with a long queue keeps nobody else waiting.
CREATE INDEX delivery_due ON delivery (destination, due_at) WHERE status = 'pending';
CREATE INDEX delivery_event ON delivery (event_seq);
CREATE INDEX delivery_route ON delivery (route_id, status, id) WHERE route_id IS NOT NULL;

CREATE TABLE delivery_attempt (
  delivery_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at TEXT NOT NULL,
  status_code INTEGER,
  duration_ms INTEGER NOT NULL,
  error TEXT,
  response TEXT,
  PRIMARY KEY (delivery_id, attempt)
) STRICT, WITHOUT ROWID;
