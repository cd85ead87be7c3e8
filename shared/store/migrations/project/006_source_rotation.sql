-- A source whose secret was replaced: the one before, sealed for this column, opens deliveries as well until then
-- (milliseconds). Both go together.
ALTER TABLE source ADD COLUMN previous_secret BLOB;
ALTER TABLE source ADD COLUMN previous_valid_until INTEGER;

CREATE INDEX source_previous_secret ON source (previous_valid_until) WHERE previous_valid_until IS NOT NULL;
