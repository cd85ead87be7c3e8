-- What a key may see and change of the disk, as a JSON array of prefixes; null for everything.
ALTER TABLE key ADD COLUMN disk_prefixes TEXT;
