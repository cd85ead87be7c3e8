-- Sent mail by its state, for people who look for what failed.
CREATE INDEX email_message_status ON email_message (status, batch_id);
