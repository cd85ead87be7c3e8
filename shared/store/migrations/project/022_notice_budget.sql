-- How many messages a key may still send through a channel. full_at: when it may send a whole burst again.
-- digest_at: when the last digest went out. muted_until: until then the person wants no messages from the key.
CREATE TABLE notice_budget (
  channel_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  full_at INTEGER NOT NULL DEFAULT 0,
  digest_at INTEGER,
  muted_until INTEGER,
  PRIMARY KEY (channel_id, key_id)
) STRICT, WITHOUT ROWID;

-- admitted: it was counted against the budget, so another attempt to send it isn't.
ALTER TABLE notice ADD COLUMN admitted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX notice_held ON notice (channel_id) WHERE status = 'held';
