-- control, schema 12

CREATE TABLE account (
  id TEXT PRIMARY KEY,
  address BLOB NOT NULL,
  address_hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
, mailbox_hash TEXT, is_guest INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE duty (
  name TEXT PRIMARY KEY,
  gateway_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE gateway (
  id TEXT PRIMARY KEY,
  beat INTEGER NOT NULL,
  started_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  mailbox_hash TEXT NOT NULL UNIQUE,
  address BLOB NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE known_network (
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  network_hash TEXT NOT NULL,
  confirmed_at INTEGER NOT NULL, network BLOB,
  PRIMARY KEY (account_id, network_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE login (
  id_hash TEXT PRIMARY KEY,
  link_hash TEXT NOT NULL UNIQUE,
  user_code TEXT NOT NULL,
  address BLOB NOT NULL,
  address_hash TEXT NOT NULL,
  rate_hash TEXT NOT NULL,
  masked TEXT NOT NULL,
  client TEXT NOT NULL,
  state TEXT NOT NULL,
  account_id TEXT REFERENCES account (id),
  repeat_hash TEXT,
  answer BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
, share TEXT NOT NULL DEFAULT '', network_hash TEXT NOT NULL DEFAULT '', wrong_codes INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE mail_use (
  scope TEXT NOT NULL,
  day TEXT NOT NULL,
  asked INTEGER NOT NULL,
  PRIMARY KEY (scope, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailbox (
  name TEXT PRIMARY KEY,
  uid_validity INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE membership (
  project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  member_id TEXT NOT NULL,
  address BLOB NOT NULL,
  address_hash TEXT NOT NULL,
  PRIMARY KEY (project_id, member_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at TEXT NOT NULL
, account_id TEXT REFERENCES account (id), moved_to TEXT, has_chats_noted INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE project_rest (
  project_id TEXT PRIMARY KEY REFERENCES project (id) ON DELETE CASCADE,
  next_due_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE project_work (
  gateway_id TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  working INTEGER NOT NULL,
  next_due_at INTEGER,
  PRIMARY KEY (gateway_id, project_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE telegram_chat (
  project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  chat_hash TEXT NOT NULL,
  chat BLOB NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, chat_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE ui_link (
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'owner')),
  project_id TEXT,
  key_id TEXT,
  key_hash TEXT,
  address BLOB,
  rate_hash TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
, share TEXT NOT NULL DEFAULT '', network_hash TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;

CREATE TABLE ui_session (
  id_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'owner')),
  project_id TEXT,
  key_id TEXT,
  key_hash TEXT,
  address BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX account_mailbox ON account (mailbox_hash);

CREATE INDEX login_answer ON login (expires_at) WHERE answer IS NOT NULL;

CREATE INDEX login_created ON login (created_at);

CREATE INDEX login_rate ON login (rate_hash, created_at);

CREATE INDEX membership_address ON membership (address_hash);

CREATE INDEX project_account ON project (account_id) WHERE account_id IS NOT NULL;

CREATE INDEX project_work_project ON project_work (project_id);

CREATE INDEX telegram_chat_hash ON telegram_chat (chat_hash);

CREATE INDEX ui_link_rate ON ui_link (rate_hash, created_at) WHERE rate_hash IS NOT NULL;

-- project, schema 35

CREATE TABLE activity (
  step_ms INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (step_ms, bucket, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob (
  digest TEXT PRIMARY KEY,
  size_bytes INTEGER NOT NULL,
  refs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_erasure (
  digest TEXT PRIMARY KEY,
  -- Names the attempt.
  claim TEXT NOT NULL,
  -- Milliseconds: then its process has died.
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_pin (
  digest TEXT NOT NULL,
  holder TEXT NOT NULL,
  -- Milliseconds: then its process has died.
  until INTEGER NOT NULL,
  PRIMARY KEY (digest, holder)
) STRICT, WITHOUT ROWID;

CREATE TABLE browser (
  id TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL,
  name TEXT NOT NULL,
  subscription BLOB NOT NULL,
  endpoint_hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  last_sent_at TEXT,
  gone_at TEXT
, created_by TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE callback_secret (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  secret BLOB NOT NULL,
  created_at TEXT NOT NULL,
  previous BLOB,
  previous_valid_until INTEGER
, created_by TEXT) STRICT;

CREATE TABLE channel (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  status TEXT NOT NULL,
  owner INTEGER NOT NULL DEFAULT 0,
  address BLOB,
  address_hash TEXT,
  masked TEXT,
  created_at TEXT NOT NULL,
  created_by TEXT,
  verified_at TEXT,
  activated_at TEXT,
  removed_at TEXT,
  last_used_at TEXT
, person_of TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE channel_token (
  token_hash TEXT PRIMARY KEY,
  channel_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
  id TEXT PRIMARY KEY,
  event_seq INTEGER NOT NULL,
  route_id TEXT,
  request_id TEXT,
  url TEXT NOT NULL,
  destination TEXT NOT NULL,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempts_before INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery_attempt (
  delivery_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at TEXT NOT NULL,
  status_code INTEGER,
  duration_ms INTEGER NOT NULL,
  error TEXT,
  response TEXT,
  PRIMARY KEY (delivery_id, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE disk (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE email_address (
  address TEXT PRIMARY KEY,
  sent_at TEXT,
  received_at TEXT,
  suppressed_at TEXT,
  suppressed_by TEXT
) STRICT, WITHOUT ROWID;

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
, answers TEXT, thread_id TEXT, sum INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE email_day (
  day TEXT PRIMARY KEY,
  asked INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  bounced INTEGER NOT NULL DEFAULT 0,
  complained INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

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
, field TEXT NOT NULL DEFAULT 'to', sum INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  source_id TEXT,
  source TEXT NOT NULL,
  channel TEXT NOT NULL,
  type TEXT NOT NULL,
  received_at TEXT NOT NULL,
  verified INTEGER NOT NULL,
  trust TEXT NOT NULL,
  suspected_replay INTEGER NOT NULL DEFAULT 0,
  reply_to TEXT,
  size_bytes INTEGER NOT NULL,
  provider_id TEXT,
  body_hash BLOB,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  routed INTEGER NOT NULL DEFAULT 0,
  lease_id TEXT,
  -- The key that holds the lease, or held it last.
  holder_key_id TEXT,
  -- When the lease ends (claimed) or the event returns to the queue (failed).
  due_at INTEGER,
  reason TEXT,
  result TEXT,
  finished_at TEXT
, asker_key_id TEXT, thread_id TEXT, head_sum INTEGER, body_sum INTEGER) STRICT;

CREATE TABLE event_content (
  seq INTEGER PRIMARY KEY,
  headers TEXT NOT NULL,
  content_type TEXT,
  kind TEXT,
  body BLOB,
  blob TEXT
) STRICT;

CREATE TABLE event_file (
  event_seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  PRIMARY KEY (event_seq, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE file (
  path TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at TEXT NOT NULL
, upload_id TEXT, sum INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE file_link (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  request_id TEXT,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  key_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  op TEXT NOT NULL,
  input_digest TEXT NOT NULL,
  committed BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at TEXT NOT NULL,
  created_by TEXT,
  expires_at TEXT,
  revoked_at TEXT,
  last_used_at TEXT,
  -- After a rotation the old secret may go on for a while.
  previous_hash TEXT UNIQUE,
  previous_valid_until TEXT
, disk_prefixes TEXT, client TEXT, secret_expires_at TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE kv (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL,
  version INTEGER NOT NULL,
  expires_at INTEGER,
  updated_at TEXT NOT NULL,
  note TEXT,
  value BLOB NOT NULL
, key_id TEXT, agent TEXT, sum INTEGER) STRICT;

CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  op TEXT NOT NULL,
  agent TEXT,
  platform TEXT,
  key_id TEXT,
  subject TEXT,
  request_id TEXT,
  outcome TEXT NOT NULL,
  code TEXT,
  input_digest TEXT,
  result_digest TEXT,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL
, actor TEXT) STRICT;

CREATE TABLE ledger_opening (
  seq INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,
  salt TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE member (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  account_id TEXT,
  channel_id TEXT,
  address BLOB,
  address_hash TEXT,
  masked TEXT,
  invited_by TEXT,
  created_at TEXT NOT NULL,
  joined_at TEXT,
  removed_at TEXT,
  token_hash TEXT UNIQUE,
  token_at INTEGER,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE notice (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  request_id TEXT,
  token BLOB,
  token_hash TEXT UNIQUE,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER,
  message_id TEXT,
  reason TEXT,
  created_at TEXT NOT NULL,
  sent_at TEXT
, about TEXT, admitted INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE notice_budget (
  channel_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  full_at INTEGER NOT NULL DEFAULT 0,
  digest_at INTEGER,
  muted_until INTEGER,
  PRIMARY KEY (channel_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE oauth_grant (
  key_id TEXT PRIMARY KEY REFERENCES key (id),
  client_id TEXT NOT NULL,
  resource TEXT NOT NULL,
  redirect_uri TEXT NOT NULL,
  ends_at TEXT NOT NULL,
  code_hash TEXT NOT NULL UNIQUE,
  code_challenge TEXT NOT NULL,
  code_expires_at INTEGER NOT NULL,
  family_hash TEXT UNIQUE,
  refresh_hash TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE park (
  seq INTEGER PRIMARY KEY,
  parks INTEGER NOT NULL,
  parked_at TEXT NOT NULL,
  wakes_on_any INTEGER NOT NULL,
  conditions TEXT NOT NULL,
  state TEXT,
  because TEXT
, sum INTEGER) STRICT;

CREATE TABLE park_ref (
  ref TEXT NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (ref, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE policy (
  version INTEGER PRIMARY KEY,
  rules TEXT NOT NULL,
  note TEXT,
  request_id TEXT,
  approved_by TEXT,
  approved_at TEXT NOT NULL
, sum INTEGER) STRICT;

CREATE TABLE "request" (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  key_id TEXT NOT NULL,
  agent TEXT,
  platform TEXT NOT NULL DEFAULT 'unknown',
  subject TEXT NOT NULL,
  action TEXT,
  summary TEXT NOT NULL DEFAULT '',
  details TEXT,
  risk TEXT,
  amount REAL,
  question TEXT,
  options TEXT NOT NULL DEFAULT '[]',
  proposal TEXT,
  decision TEXT,
  comment TEXT,
  hint TEXT,
  decided_by TEXT,
  approvers TEXT NOT NULL DEFAULT '[]',
  policy_version INTEGER NOT NULL DEFAULT 0,
  rule TEXT,
  state_ref TEXT,
  callback_url TEXT,
  created_at TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER,
  redeemed_at INTEGER
, event_id TEXT, bind TEXT, identity TEXT, spent_by TEXT, approvals INTEGER NOT NULL DEFAULT 1, sum INTEGER, thread TEXT, lasts_until INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE route (
  id TEXT PRIMARY KEY,
  callback_url TEXT NOT NULL,
  destination TEXT NOT NULL,
  match_source TEXT,
  match_type TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT,
  secret BLOB,
  created_at TEXT NOT NULL,
  created_by TEXT,
  removed_at TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  key_id TEXT PRIMARY KEY REFERENCES key (id),
  agent TEXT NOT NULL,
  platform TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE source (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  verification TEXT NOT NULL,
  signature_header TEXT,
  secret BLOB,
  token BLOB,
  token_hash TEXT UNIQUE,
  created_at TEXT NOT NULL,
  removed_at TEXT,
  last_event_at TEXT
, previous_secret BLOB, previous_valid_until INTEGER, created_by TEXT, secret_by TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE source_hour (
  source_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0, repeated INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (source_id, hour)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE state_version (
  version INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  saved_at TEXT NOT NULL,
  -- Unix time in milliseconds.
  replaced_at INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  note TEXT,
  key_id TEXT,
  agent TEXT,
  value BLOB NOT NULL
, sum INTEGER) STRICT;

CREATE TABLE transfer (
  month TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE upload (
  id TEXT PRIMARY KEY,
  path TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  digest TEXT,
  expires_at INTEGER NOT NULL
, key_id TEXT) STRICT, WITHOUT ROWID;

CREATE TABLE vote (
  request_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  comment TEXT, counts INTEGER NOT NULL DEFAULT 1, sum INTEGER,
  PRIMARY KEY (request_id, channel_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_erasure_until ON blob_erasure (until);

CREATE INDEX blob_pin_until ON blob_pin (until);

CREATE INDEX browser_channel ON browser (channel_id);

CREATE UNIQUE INDEX channel_address ON channel (address_hash) WHERE status <> 'removed' AND address_hash IS NOT NULL;

CREATE UNIQUE INDEX channel_owner ON channel (owner) WHERE owner = 1 AND status <> 'removed';

CREATE INDEX channel_token_channel ON channel_token (channel_id);

CREATE INDEX channel_token_expiry ON channel_token (expires_at);

CREATE INDEX delivery_due ON delivery (destination, due_at) WHERE status = 'pending';

CREATE INDEX delivery_event ON delivery (event_seq);

CREATE INDEX delivery_finished ON delivery (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX delivery_route ON delivery (route_id, status, id) WHERE route_id IS NOT NULL;

CREATE INDEX email_batch_forget ON email_batch (forget_at) WHERE forget_at IS NOT NULL;

CREATE UNIQUE INDEX email_batch_request ON email_batch (request_id) WHERE request_id IS NOT NULL;

CREATE INDEX email_batch_thread ON email_batch (thread_id, created_at) WHERE thread_id IS NOT NULL;

CREATE INDEX email_batch_unsummed ON email_batch (id) WHERE sum IS NULL;

CREATE INDEX email_message_batch ON email_message (batch_id);

CREATE INDEX email_message_due ON email_message (due_at) WHERE status = 'queued';

CREATE INDEX email_message_status ON email_message (status, batch_id);

CREATE INDEX email_message_unsummed ON email_message (id) WHERE sum IS NULL;

CREATE INDEX event_body_hash ON event (source_id, body_hash) WHERE body_hash IS NOT NULL AND provider_id IS NULL;

CREATE INDEX event_content_blob ON event_content (blob) WHERE blob IS NOT NULL;

CREATE INDEX event_due ON event (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX event_finished ON event (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX event_mail ON event (seq) WHERE channel = 'email';

CREATE INDEX event_provider_id ON event (source_id, provider_id) WHERE provider_id IS NOT NULL;

CREATE INDEX event_reply_to ON event (reply_to) WHERE reply_to IS NOT NULL;

CREATE INDEX event_status ON event (status);

CREATE INDEX event_status_source ON event (status, source);

CREATE INDEX event_status_type ON event (status, type);

CREATE INDEX event_thread ON event (thread_id, status) WHERE thread_id IS NOT NULL;

CREATE INDEX event_thread_time ON event (thread_id, received_at) WHERE thread_id IS NOT NULL;

CREATE INDEX event_unsummed ON event (seq) WHERE head_sum IS NULL;

CREATE INDEX file_link_expiry ON file_link (expires_at);

CREATE INDEX file_link_key ON file_link (key_id);

CREATE INDEX file_link_path ON file_link (path);

CREATE INDEX file_unsummed ON file (path) WHERE sum IS NULL;

CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE INDEX key_expiry ON key (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;

CREATE INDEX key_maker ON key (created_by) WHERE created_by IS NOT NULL;

CREATE INDEX kv_expiry ON kv (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX kv_unsummed ON kv (id) WHERE sum IS NULL;

CREATE INDEX ledger_actor ON ledger (actor) WHERE actor IS NOT NULL;

CREATE INDEX ledger_agent ON ledger (agent) WHERE agent IS NOT NULL;

CREATE INDEX ledger_op ON ledger (op);

CREATE INDEX ledger_opening_event ON ledger_opening (event_id, seq);

CREATE INDEX ledger_platform ON ledger (platform) WHERE platform IS NOT NULL;

CREATE INDEX ledger_subject ON ledger (subject) WHERE subject IS NOT NULL;

CREATE UNIQUE INDEX member_account ON member (account_id) WHERE account_id IS NOT NULL;

CREATE UNIQUE INDEX member_address ON member (address_hash) WHERE address_hash IS NOT NULL;

CREATE INDEX member_expiry ON member (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX notice_due ON notice (due_at) WHERE status = 'queued';

CREATE INDEX notice_held ON notice (channel_id) WHERE status = 'held';

CREATE INDEX notice_message ON notice (channel_id, message_id) WHERE message_id IS NOT NULL;

CREATE INDEX notice_request ON notice (request_id, channel_id);

CREATE INDEX oauth_grant_unused ON oauth_grant (code_expires_at) WHERE family_hash IS NULL;

CREATE INDEX park_unsummed ON park (seq) WHERE sum IS NULL;

CREATE INDEX policy_unsummed ON policy (version) WHERE sum IS NULL;

CREATE INDEX request_action ON request (action, id) WHERE action IS NOT NULL;

CREATE INDEX request_agent ON request (agent, id) WHERE agent IS NOT NULL;

CREATE INDEX request_event ON request (event_id, id) WHERE event_id IS NOT NULL;

CREATE INDEX request_expiry ON request (expires_at) WHERE status = 'pending';

CREATE INDEX request_pending ON request (key_id, kind, subject) WHERE status = 'pending';

CREATE INDEX request_status ON request (status, id);

CREATE INDEX request_thread ON request (key_id, thread) WHERE thread IS NOT NULL;

CREATE INDEX request_unsummed ON request (id) WHERE sum IS NULL;

CREATE UNIQUE INDEX source_active_name ON source (name) WHERE removed_at IS NULL;

CREATE INDEX source_previous_secret ON source (previous_valid_until) WHERE previous_valid_until IS NOT NULL;

CREATE INDEX state_version_end ON state_version (replaced_at);

CREATE INDEX state_version_key ON state_version (key, version);

CREATE INDEX state_version_unsummed ON state_version (version) WHERE sum IS NULL;

CREATE INDEX upload_expiry ON upload (expires_at);

CREATE INDEX upload_path ON upload (path);

CREATE INDEX vote_unsummed ON vote (request_id) WHERE sum IS NULL;
