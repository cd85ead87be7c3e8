-- Where several gateways share a store: who is about to name a blob, and which blobs are being erased.

-- A process that stores bytes, or has stored them, and names them next. It never stands beside an erasure of the same digest.
CREATE TABLE blob_pin (
  digest TEXT NOT NULL,
  holder TEXT NOT NULL,
  -- Milliseconds: then its process has died.
  until INTEGER NOT NULL,
  PRIMARY KEY (digest, holder)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_pin_until ON blob_pin (until);

-- Bytes that somebody takes away just now. It never stands beside a row of `blob` with the same digest.
CREATE TABLE blob_erasure (
  digest TEXT PRIMARY KEY,
  -- Names the attempt.
  claim TEXT NOT NULL,
  -- Milliseconds: then its process has died.
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_erasure_until ON blob_erasure (until);
