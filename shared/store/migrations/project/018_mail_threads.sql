-- The thread of a mail that came in, and of the mails of a call; null for what earlier releases stored and nobody has
-- answered since.
ALTER TABLE event ADD COLUMN thread_id TEXT;
ALTER TABLE email_batch ADD COLUMN thread_id TEXT;

CREATE INDEX event_thread ON event (thread_id, status) WHERE thread_id IS NOT NULL;
