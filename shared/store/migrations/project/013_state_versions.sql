-- Earlier versions of task states. The newest one is in kv.
CREATE TABLE state_version (
  version INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  saved_at TEXT NOT NULL,
  -- Unix time in milliseconds.
  replaced_at INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  note TEXT,
  key_id TEXT,
  agent TEXT,
  value BLOB NOT NULL
) STRICT;

CREATE INDEX state_version_key ON state_version (key, version);
CREATE INDEX state_version_end ON state_version (replaced_at);

INSERT INTO disk (name, value) VALUES ('history_bytes', 0);

-- Who saved a task state; null on other keys, and on states saved by earlier releases.
ALTER TABLE kv ADD COLUMN key_id TEXT;
ALTER TABLE kv ADD COLUMN agent TEXT;
