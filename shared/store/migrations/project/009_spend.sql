-- Approvals that were used, and what opens digests of the ledger.

-- What used an approval: the event that its act finished, or the key that used it without one.
ALTER TABLE request ADD COLUMN spent_by TEXT;

-- `value` and `salt` of ledger entries about events: the entry's input_digest is made of them, so they prove what it recorded.
CREATE TABLE ledger_opening (
  seq INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,
  salt TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;

CREATE INDEX ledger_opening_event ON ledger_opening (event_id, seq);
