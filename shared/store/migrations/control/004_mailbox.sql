-- How far mailboxes have been read.

-- name: host, user and mailbox, without the password.
-- uid_validity, uid: mails with this UIDVALIDITY and a UID up to this one are taken in (RFC 3501 section 2.3.1.1).
CREATE TABLE mailbox (
  name TEXT PRIMARY KEY,
  uid_validity INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
