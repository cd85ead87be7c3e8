-- Questions that belong together, and until when a person's answer to one holds for others like it.
ALTER TABLE request ADD COLUMN thread TEXT;
ALTER TABLE request ADD COLUMN lasts_until INTEGER;
CREATE INDEX request_thread ON request (key_id, thread) WHERE thread IS NOT NULL;
