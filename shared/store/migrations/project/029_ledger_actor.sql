-- Who did what an entry records: the id of a key, a person's channel, a member or a source, `policy:RULE`, `operator` or
-- `service`. Null in entries of earlier releases.
ALTER TABLE ledger ADD COLUMN actor TEXT;
