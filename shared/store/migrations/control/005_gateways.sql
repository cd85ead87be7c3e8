-- Several gateways over one store: which of them live, and who looks after what.

-- beat: goes up while the gateway lives; -1 when it has left.
CREATE TABLE gateway (
  id TEXT PRIMARY KEY,
  beat INTEGER NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Projects that a gateway has written to. working: it may have left something under way; if not, next_due_at tells when it
-- has to look again, null for never.
CREATE TABLE project_work (
  gateway_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  working INTEGER NOT NULL,
  next_due_at INTEGER,
  PRIMARY KEY (gateway_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_work_project ON project_work (project_id);

-- What only one of them may do at a time.
CREATE TABLE duty (
  name TEXT PRIMARY KEY,
  gateway_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
