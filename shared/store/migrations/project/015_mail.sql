-- Copies of a mail: the field of the call that names a recipient, `to`, `cc` or `bcc`.
ALTER TABLE email_message ADD COLUMN field TEXT NOT NULL DEFAULT 'to';
