-- What each source has stored and a purge hasn't deleted yet, and what it stored in its last minute and its last ten
-- minutes (numbered from 1970). The row with the id '' only says when people were told about the project.
CREATE TABLE source_use (
  source_id TEXT PRIMARY KEY,
  stored_bytes INTEGER NOT NULL,
  minute INTEGER NOT NULL DEFAULT 0,
  minute_events INTEGER NOT NULL DEFAULT 0,
  ten_minutes INTEGER NOT NULL DEFAULT 0,
  ten_minutes_bytes INTEGER NOT NULL DEFAULT 0,
  -- When people were last told that a limit was reached, in milliseconds.
  told_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

INSERT INTO source_use (source_id, stored_bytes)
SELECT e.source_id, sum(e.size_bytes + length(CAST(c.headers AS BLOB)) + 2048 +
    coalesce((SELECT sum(f.size_bytes) FROM event_file f WHERE f.event_seq = e.seq), 0))
FROM event e JOIN event_content c ON c.seq = e.seq
WHERE e.source_id IS NOT NULL AND c.kind IS NOT NULL
GROUP BY e.source_id;
