-- Deliveries without an id that made no event, because an earlier one had the same bytes.
ALTER TABLE source_hour ADD COLUMN repeated INTEGER NOT NULL DEFAULT 0;
