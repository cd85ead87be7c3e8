-- CRC-32 of what a row says, so that a read notices a byte that changed on the disk; null until a check adds it.
ALTER TABLE event_content ADD COLUMN head_sum INTEGER;
ALTER TABLE event_content ADD COLUMN body_sum INTEGER;
ALTER TABLE file ADD COLUMN sum INTEGER;
ALTER TABLE kv ADD COLUMN sum INTEGER;
ALTER TABLE park ADD COLUMN sum INTEGER;
ALTER TABLE state_version ADD COLUMN sum INTEGER;

-- What has none yet.
CREATE INDEX event_content_unsummed ON event_content (seq) WHERE head_sum IS NULL AND kind IS NOT NULL;
CREATE INDEX file_unsummed ON file (path) WHERE sum IS NULL;
CREATE INDEX kv_unsummed ON kv (id) WHERE sum IS NULL;
CREATE INDEX park_unsummed ON park (seq) WHERE sum IS NULL;
CREATE INDEX state_version_unsummed ON state_version (version) WHERE sum IS NULL;
