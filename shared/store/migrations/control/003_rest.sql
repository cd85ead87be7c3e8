-- Projects whose database was closed with nothing left under way: they need not be opened to know what falls due.

-- next_due_at: null when nothing will.
CREATE TABLE project_rest (
  project_id TEXT PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
  next_due_at INTEGER
) STRICT, WITHOUT ROWID;
