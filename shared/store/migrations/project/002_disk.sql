-- The disk: key-value, task state, files, uploads, links, and what they add up to.

-- What the disk holds in sum, so that a quota is one row to read. `version` numbers every write of a key or file.
CREATE TABLE disk (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO disk (name, value) VALUES ('keys', 0), ('key_bytes', 0), ('file_bytes', 0), ('upload_bytes', 0), ('version', 0);

-- Keys compare as their UTF-8 bytes do. The value stands last: a list of keys reads no value.
CREATE TABLE kv (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL,
  version INTEGER NOT NULL,
  expires_at INTEGER,
  updated_at TEXT NOT NULL,
  note TEXT,
  value BLOB NOT NULL
) STRICT;

CREATE INDEX kv_expiry ON kv (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE file (
  path TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Uploads that are open. `digest` is set when the bytes are there; until then the blob is none of ours.
CREATE TABLE upload (
  id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  digest TEXT,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX upload_path ON upload (path);
CREATE INDEX upload_expiry ON upload (expires_at);

-- Public download links. A link holds for one version of its file.
CREATE TABLE file_link (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  request_id TEXT,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX file_link_path ON file_link (path);
CREATE INDEX file_link_key ON file_link (key_id);
CREATE INDEX file_link_expiry ON file_link (expires_at);

-- Bytes sent by links, by calendar month (UTC).
CREATE TABLE transfer (
  month TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What waits for a person. `subject` says what exactly was asked, as canonical JSON: the same again is the same request.
CREATE TABLE request (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  key_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  comment TEXT,
  created_at TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  redeemed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX request_pending ON request (key_id, kind, subject) WHERE status = 'pending';
