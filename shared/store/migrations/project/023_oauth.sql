-- Apps that a person let in by OAuth. Each has a key, whose secret is the access token and changes with every renewal.

-- client: the host that the person was shown; null for other keys. secret_expires_at: when the current secret ends.
ALTER TABLE key ADD COLUMN client TEXT;
ALTER TABLE key ADD COLUMN secret_expires_at TEXT;

-- code_hash, family_hash, refresh_hash: SHA-256. The client exchanges the code once; then the key gets its secret and lives
-- until ends_at. All refresh tokens of a grant contain one family secret, which identifies a used one.
CREATE TABLE oauth_grant (
  key_id TEXT PRIMARY KEY REFERENCES key (id),
  client_id TEXT NOT NULL,
  resource TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  ends_at TEXT NOT NULL,
  code_hash TEXT NOT NULL UNIQUE,
  code_challenge TEXT NOT NULL,
  code_expires_at INTEGER NOT NULL,
  family_hash TEXT UNIQUE,
  refresh_hash TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_grant_unused ON oauth_grant (code_expires_at) WHERE family_hash IS NULL;
