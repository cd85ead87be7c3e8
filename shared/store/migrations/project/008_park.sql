-- Events that wait for an answer, and questions that belong to an event.

-- The newest park of an event; it goes when the event is done or dead. `conditions` says what the event waits for, as JSON;
-- `because` names what woke it, null while it waits.
CREATE TABLE park (
  seq INTEGER PRIMARY KEY,
  parks INTEGER NOT NULL,
  parked_at TEXT NOT NULL,
  wakes_on_any INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  state TEXT,
  because TEXT
) STRICT;

-- What waiting events wait for, by its id.
CREATE TABLE park_ref (
  ref TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (ref, seq)
) STRICT, WITHOUT ROWID;

-- `bind` holds the exact values that a person was shown, as canonical JSON; `identity` tells two questions of an event apart.
ALTER TABLE request ADD COLUMN event_id TEXT;
ALTER TABLE request ADD COLUMN bind TEXT;
ALTER TABLE request ADD COLUMN identity TEXT;

CREATE INDEX event_reply_to ON event (reply_to) WHERE reply_to IS NOT NULL;
CREATE INDEX request_event ON request (event_id, id) WHERE event_id IS NOT NULL;
