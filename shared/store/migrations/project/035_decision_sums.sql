-- As in 034: what people were asked and decided, and the mail that goes out.
ALTER TABLE email_batch ADD COLUMN sum INTEGER;
ALTER TABLE email_message ADD COLUMN sum INTEGER;
ALTER TABLE policy ADD COLUMN sum INTEGER;
ALTER TABLE request ADD COLUMN sum INTEGER;
ALTER TABLE vote ADD COLUMN sum INTEGER;

CREATE INDEX email_batch_unsummed ON email_batch (id) WHERE sum IS NULL;
CREATE INDEX email_message_unsummed ON email_message (id) WHERE sum IS NULL;
CREATE INDEX policy_unsummed ON policy (version) WHERE sum IS NULL;
CREATE INDEX request_unsummed ON request (id) WHERE sum IS NULL;
CREATE INDEX vote_unsummed ON vote (request_id) WHERE sum IS NULL;
