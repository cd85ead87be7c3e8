-- What the overview of the web inbox shows over time, counted from other rows, so it can be counted again. step_ms: the
-- length of a step; bucket: its number since 1970.
CREATE TABLE activity (
  step_ms INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (step_ms, bucket, kind, name)
) STRICT, WITHOUT ROWID;

-- What ended since a time.
CREATE INDEX event_finished ON event (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX delivery_finished ON delivery (finished_at) WHERE finished_at IS NOT NULL;
