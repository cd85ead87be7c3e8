-- The web inbox: links that open it once, and the sessions they began. Of their secrets only the SHA-256 is here.

-- kind: `key` acts as key_id in project_id for as long as the secret with key_hash holds; `owner` as whoever has the address
-- (sealed). rate_hash counts the mails of a mailbox.
CREATE TABLE ui_link (
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'owner')),
  project_id TEXT,
  key_id TEXT,
  key_hash TEXT,
  address BLOB,
  rate_hash TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX ui_link_rate ON ui_link (rate_hash, created_at) WHERE rate_hash IS NOT NULL;

CREATE TABLE ui_session (
  id_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'owner')),
  project_id TEXT,
  key_id TEXT,
  key_hash TEXT,
  address BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
