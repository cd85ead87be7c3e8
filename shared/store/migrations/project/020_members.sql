-- People who share the project. status: `asked` until an owner approves, then `invited`, `active`, `removed`.
-- address: sealed; null where the channel has it, as for the person who founded the project. address_hash: keyed.
-- token_hash: of the link in the invitation's mail.
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
CREATE UNIQUE INDEX member_address ON member (address_hash) WHERE address_hash IS NOT NULL;
CREATE UNIQUE INDEX member_account ON member (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX member_expiry ON member (expires_at) WHERE expires_at IS NOT NULL;

-- Until now the only person with an account was the owner, and only their account got keys.
INSERT INTO member (id, role, status, account_id, channel_id, created_at, joined_at)
SELECT 'mbr_' || substr(id, 5), 'owner', 'active',
  (SELECT created_by FROM key WHERE created_by LIKE 'acc\_%' ESCAPE '\' ORDER BY id LIMIT 1),
  id, created_at, activated_at
FROM channel WHERE owner = 1 AND status = 'active';

-- Keys of other accounts, from before a move or an import, were the owner's too, and must end with the owner.
UPDATE key SET created_by = (SELECT id FROM member WHERE role = 'owner')
WHERE created_by LIKE 'acc\_%' ESCAPE '\' AND EXISTS (SELECT 1 FROM member WHERE role = 'owner');
