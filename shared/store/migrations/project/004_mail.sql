-- Mail: what came with events, and what is sent.

-- The files of a mail that came in, and under the name `` its HTML. Each names a blob.
CREATE TABLE event_file (
  event_seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  PRIMARY KEY (event_seq, name)
) STRICT, WITHOUT ROWID;

-- What one call sends, the same to each recipient. `attachments` is a JSON array, each naming a blob; text, HTML and
-- attachments go after their time.
CREATE TABLE email_batch (
  id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  request_id TEXT,
  sender TEXT NOT NULL,
  reply_to_inbox INTEGER NOT NULL,
  subject TEXT NOT NULL,
  text TEXT,
  html TEXT,
  attachments TEXT NOT NULL,
  created_at TEXT NOT NULL,
  -- Milliseconds; null once it is forgotten.
  forget_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX email_batch_request ON email_batch (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX email_batch_forget ON email_batch (forget_at) WHERE forget_at IS NOT NULL;

-- One message to one recipient. `token_hash` is of what stands in the address that replies and reports come back to.
-- `handed_at` is set before its first byte goes to a server: who finds it set knows that it may have arrived.
CREATE TABLE email_message (
  id TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  handed_at INTEGER,
  code TEXT,
  reason TEXT,
  sent_at TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX email_message_batch ON email_message (batch_id);
CREATE INDEX email_message_due ON email_message (due_at) WHERE status = 'queued';

-- What is known of addresses, in lower case: whether mail went there, came from there, or must not go there any more.
CREATE TABLE email_address (
  address TEXT PRIMARY KEY,
  sent_at TEXT,
  received_at TEXT,
  suppressed_at TEXT,
  suppressed_by TEXT
) STRICT, WITHOUT ROWID;

-- Messages by the day (UTC) they were asked for, and the reports that came on a day.
CREATE TABLE email_day (
  day TEXT PRIMARY KEY,
  asked INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  bounced INTEGER NOT NULL DEFAULT 0,
  complained INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
