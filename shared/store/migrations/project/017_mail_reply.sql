-- The mail that a batch answers and what it quotes of it, as JSON; null for any other mail, and once the content is
-- deleted.
ALTER TABLE email_batch ADD COLUMN answers TEXT;
