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

-- 1: made by joining somebody's project, so its person can't found their own where sign-up is closed to them.
ALTER TABLE account ADD COLUMN is_guest INTEGER NOT NULL DEFAULT 0;
