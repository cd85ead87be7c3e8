-- Mails in their order, and those of one thread, for people who read them.
CREATE INDEX event_mail ON event (seq) WHERE channel = 'email';
CREATE INDEX event_thread_time ON event (thread_id, received_at) WHERE thread_id IS NOT NULL;
CREATE INDEX email_batch_thread ON email_batch (thread_id, created_at) WHERE thread_id IS NOT NULL;
