-- Starts from networks that an account doesn't know count by network, and all of them together. network_hash: keyed.
ALTER TABLE login ADD COLUMN network_hash TEXT NOT NULL DEFAULT '';
-- How often the person typed another code than the terminal's.
ALTER TABLE login ADD COLUMN wrong_codes INTEGER NOT NULL DEFAULT 0;

-- The same for the links that open the web inbox.
ALTER TABLE ui_link ADD COLUMN share TEXT NOT NULL DEFAULT '';
ALTER TABLE ui_link ADD COLUMN network_hash TEXT NOT NULL DEFAULT '';

-- network: sealed, so that a change of the master key can make its hash anew. Null: learned by an earlier release.
ALTER TABLE known_network ADD COLUMN network BLOB;

-- Messages that agents asked to send, by UTC day: scope is `gateway`, or `account:` and the id of an account.
CREATE TABLE mail_use (
  scope TEXT NOT NULL,
  day TEXT NOT NULL,
  asked INTEGER NOT NULL,
  PRIMARY KEY (scope, day)
) STRICT, WITHOUT ROWID;
