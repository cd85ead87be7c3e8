-- CRC-32 of what a row says, so that a read notices a byte that changed on the disk; null until a check adds it.
-- Those of an event aren't beside its body: lists, which leave out large bodies, would have to read past them.
ALTER TABLE event ADD COLUMN head_sum INTEGER;
ALTER TABLE event ADD COLUMN body_sum INTEGER;
ALTER TABLE file ADD COLUMN sum INTEGER;
ALTER TABLE kv ADD COLUMN sum INTEGER;
ALTER TABLE park ADD COLUMN sum INTEGER;
ALTER TABLE state_version ADD COLUMN sum INTEGER;

-- What has none yet.
CREATE INDEX event_unsummed ON event (seq) WHERE head_sum IS NULL;
CREATE INDEX file_unsummed ON file (path) WHERE sum IS NULL;
CREATE INDEX kv_unsummed ON kv (id) WHERE sum IS NULL;
CREATE INDEX park_unsummed ON park (seq) WHERE sum IS NULL;
CREATE INDEX state_version_unsummed ON state_version (version) WHERE sum IS NULL;
