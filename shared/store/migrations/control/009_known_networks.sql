-- Networks that an account confirmed a sign-in from. network_hash: keyed.
CREATE TABLE known_network (
  account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
  network_hash TEXT NOT NULL,
  confirmed_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, network_hash)
) STRICT, WITHOUT ROWID;

-- Sign-ins count against the share of their known network; all others share the empty one.
ALTER TABLE login ADD COLUMN share TEXT NOT NULL DEFAULT '';
