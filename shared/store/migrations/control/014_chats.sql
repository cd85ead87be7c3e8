-- In which projects a Telegram chat is a channel, so that a reply in it finds them and nothing else is opened for it. The
-- projects' databases decide; these rows follow. chat_hash: keyed. chat: sealed, so that a change of the master key can
-- make the hash anew.
CREATE TABLE telegram_chat (
  project_id TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  chat_hash TEXT NOT NULL,
  chat BLOB NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, chat_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX telegram_chat_hash ON telegram_chat (chat_hash);

-- 0: nobody has looked which chats the project has, because an earlier release made it, or an import or a restore brought it.
ALTER TABLE project ADD COLUMN has_chats_noted INTEGER NOT NULL DEFAULT 0;
