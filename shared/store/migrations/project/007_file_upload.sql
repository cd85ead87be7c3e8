-- The upload that brought the bytes of a file, so that completing it again finds what it made.
ALTER TABLE file ADD COLUMN upload_id TEXT;
