-- Who made what gives access: the key, member or channel that acted. Null for what earlier releases made.
ALTER TABLE source ADD COLUMN created_by TEXT;
-- Who set the secret that it has now.
ALTER TABLE source ADD COLUMN secret_by TEXT;
ALTER TABLE upload ADD COLUMN key_id TEXT;
ALTER TABLE browser ADD COLUMN created_by TEXT;
ALTER TABLE callback_secret ADD COLUMN created_by TEXT;

-- The keys that a key or a person made.
CREATE INDEX key_maker ON key (created_by) WHERE created_by IS NOT NULL;
