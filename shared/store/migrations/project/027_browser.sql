-- Browsers that get a person's messages as notices, beside their channel. subscription: sealed; endpoint_hash: SHA-256 of its
-- address. gone_at: when the browser's push service said that it takes no more.
CREATE TABLE browser (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  subscription BLOB NOT NULL,
  endpoint_hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  last_sent_at TEXT,
  gone_at TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX browser_channel ON browser (channel_id);
