-- Approvals that need several people.

-- How many people must approve a request.
ALTER TABLE request ADD COLUMN approvals INTEGER NOT NULL DEFAULT 1;

-- Who has approved a request that needs several people. `at` is Unix time in milliseconds.
CREATE TABLE vote (
  request_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  comment TEXT,
  PRIMARY KEY (request_id, channel_id)
) STRICT, WITHOUT ROWID;
