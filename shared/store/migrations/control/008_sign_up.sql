-- mailbox_hash: keyed, the same for all spellings of an address that reach one mailbox in practice. Null until the
-- gateway's next start fills it in.
ALTER TABLE account ADD COLUMN mailbox_hash TEXT;
CREATE INDEX account_mailbox ON account (mailbox_hash);

-- People whom the operator invited and who haven't signed in yet. address: sealed.
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  mailbox_hash TEXT NOT NULL UNIQUE,
  address BLOB NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
