-- People who signed in, and sign-ins under way.

-- address: sealed. address_hash: keyed, finds an address again without telling it.
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  address BLOB NOT NULL,
  address_hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Null for a project of the machine that runs the gateway.
ALTER TABLE project ADD COLUMN account_id TEXT REFERENCES account (id);
CREATE INDEX project_account ON project (account_id) WHERE account_id IS NOT NULL;

-- id_hash, link_hash: of the secrets that the client and the mail hold.
-- rate_hash: keyed, the same for all spellings of an address that reach one mailbox in practice.
-- client: JSON, what the client said of itself and where it came from.
-- state: waiting, confirmed, denied or used. Expiry is told by expires_at.
-- repeat_hash, answer: a repeat of the call that used it up is given this sealed answer, until expires_at.
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
) STRICT, WITHOUT ROWID;
CREATE INDEX login_rate ON login (rate_hash, created_at);
CREATE INDEX login_created ON login (created_at);
CREATE INDEX login_answer ON login (expires_at) WHERE answer IS NOT NULL;
