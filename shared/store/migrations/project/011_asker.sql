-- The key that asked the request whose end an event tells; null on every other event, and on those of earlier releases.
ALTER TABLE event ADD COLUMN asker_key_id TEXT;
