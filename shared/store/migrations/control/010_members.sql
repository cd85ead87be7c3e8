-- In which projects people are members, so that a sign-in finds them. The projects' databases decide; these rows follow.
-- address: sealed. address_hash: keyed, as in account.
CREATE TABLE membership (
  project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  member_id TEXT NOT NULL,
  address BLOB NOT NULL,
  address_hash TEXT NOT NULL,
  PRIMARY KEY (project_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_address ON membership (address_hash);
